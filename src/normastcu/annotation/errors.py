"""The error of the annotation room."""


class AnnotationError(ValueError):
    """Settings, files or answers that annotation can't take; the message says what to do."""


class DatabaseUnavailableError(AnnotationError):
    """The database can't be read or written, perhaps for a moment only."""


class CampaignClosedError(AnnotationError):
    """The campaign is closed: answers and suggestions are no longer taken."""


class NotAssignedError(AnnotationError):
    """The pair or the query is not one of this person's."""
