"""The errors of the annotation room."""

from normastcu.annotation.records import Answer


class AnnotationError(ValueError):
    """Settings, files or answers that annotation can't take; the message says what to do."""


class DatabaseUnavailableError(AnnotationError):
    """The database can't be read or written, perhaps for a moment only."""


class CampaignClosedError(AnnotationError):
    """The campaign is closed: answers and suggestions are no longer taken."""


class NotAssignedError(AnnotationError):
    """The pair or the query is not one of this person's."""


class NotSuggestibleError(AnnotationError):
    """The document is not in the collection, or somebody has it to judge for the query."""

    def __init__(self) -> None:
        super().__init__("This document can't be suggested for this query. Pick another one.")


class AnswerChangedError(AnnotationError):
    """The pair has another answer than the one that the new answer was based on.

    Attributes
    ----------
    current
        What counts for the pair; None without an answer.
    """

    def __init__(self, current: Answer | None) -> None:
        super().__init__(
            "This pair was answered, or its answer taken back, in another place since. Look at it "
            "again and answer it anew."
        )
        self.current = current
