"""The error of the services room."""


class ServiceError(ValueError):
    """A service can't be called as the settings say; the message names the setting to change."""
