"""The error of the collection room."""


class CollectionError(ValueError):
    """Input that the collection can't take; the message names the place and the remedy."""
