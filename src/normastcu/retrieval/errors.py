"""The error of the retrieval room."""


class RetrievalError(ValueError):
    """Settings or input that retrieval can't take; the message names the place and the remedy."""
