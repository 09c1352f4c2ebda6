"""The pipelines of the method, one package each."""
