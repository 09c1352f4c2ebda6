"""The annotation store: everything that the screen and the commands ask of a campaign.

A facade: each method opens one transaction and hands over to the module that knows the matter.
"""

from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

import pandas as pd

from normastcu.annotation import (
    adjudication,
    answers,
    campaign,
    documents,
    judgments,
    orders,
    overview,
    people,
    preparation,
    suggestions,
    tasks,
)
from normastcu.annotation.assignment import Pair
from normastcu.annotation.database import Database, scalar
from normastcu.annotation.errors import AnnotationError
from normastcu.annotation.records import (
    Answer,
    Campaign,
    Choice,
    DocumentView,
    Hit,
    Overview,
    Person,
    PersonStatus,
    Prepared,
    QueryProgress,
    Role,
    Round,
    RoundProgress,
    Suggestion,
    Task,
)
from normastcu.annotation.settings import CampaignSettings, Counting


class AnnotationStore:
    """A campaign of judging in one SQLite file; safe for many threads.

    Parameters
    ----------
    path
        The file; it is made if it does not exist.

    Raises
    ------
    AnnotationError
        The path is on a network drive, can't be opened, or is another kind of file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.database = Database(path)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self.database.dispose()

    def ping(self) -> None:
        """Raise where the file can't be read."""
        with self.database.reading() as connection:
            scalar(connection, "SELECT count(*) FROM campaign")

    def prepare(
        self,
        pool: pd.DataFrame,
        queries: pd.DataFrame,
        collection: pd.DataFrame | Iterable[pd.DataFrame],
        settings: CampaignSettings,
    ) -> Prepared:
        """Make a campaign of a pool, or bring it up to date; it can be run again at any time.

        Parameters
        ----------
        pool
            Columns query_id, doc_id; a pair that stands there several times counts once.
        queries
            Columns query_id, text.
        collection
            The documents as a whole or in chunks, see `documents.store_documents`.
        settings
            Collection, scale, assignment, seed, definitions.

        Raises
        ------
        AnnotationError
            The pool has unknown queries or documents, or no pair, or the campaign is on another
            collection, or people judged on another scale, in another order or of other queries.
        """
        if pool.empty:
            raise AnnotationError("The pool has no pairs. Make the pool first.")
        with self.database.writing() as connection:
            campaign.write_settings(connection, settings)
            preparation.store_queries(connection, pool, queries)
        n_changed = self._store_documents(collection)
        with self.database.writing() as connection:
            n_new, n_withdrawn, n_kept = preparation.store_pairs(connection, pool)
            loads = orders.distribute(connection)
            n_documents = scalar(connection, "SELECT count(*) FROM documents")
            n_queries, n_pairs = preparation.size(connection)
        return Prepared(
            n_queries=n_queries,
            n_pairs=n_pairs,
            n_new_pairs=n_new,
            n_withdrawn=n_withdrawn,
            n_kept=n_kept,
            n_documents=n_documents,
            n_changed_documents=n_changed,
            short_of=max(0, (settings.annotation.overlap or 1) - len(loads)),
            loads=loads,
        )

    def has_campaign(self) -> bool:
        """Tell whether a campaign was prepared or imported."""
        with self.database.reading() as connection:
            return campaign.find_settings(connection) is not None

    def campaign(self) -> Campaign:
        """Return what everybody judges."""
        with self.database.reading() as connection:
            return campaign.read_campaign(connection)

    def settings(self) -> CampaignSettings:
        """Return the settings of the campaign."""
        with self.database.reading() as connection:
            return campaign.read_settings(connection)

    def close_campaign(self) -> None:
        """Take no answers from now on."""
        with self.database.writing() as connection:
            campaign.set_closed(connection)

    def reopen(self) -> None:
        """Take answers again."""
        with self.database.writing() as connection:
            campaign.set_open(connection)

    def add_person(self, name: str, role: Role = "assessor") -> str:
        """Add somebody and give them pairs; return the token of their link, which is shown once."""
        return self.add_people([name], role)[name]

    def add_people(self, names: Sequence[str], role: Role = "assessor") -> dict[str, str]:
        """Add several people at once, see `add_person`."""
        return self.change_people(names, role)

    def renew_token(self, name: str) -> str:
        """Give somebody a new link, also after `revoke`; the old one ends."""
        return self.change_people(renew=[name])[name]

    def revoke(self, name: str) -> None:
        """End somebody's link and sessions; their answers stay, their open pairs go to others."""
        self.change_people(revoke=[name])

    def change_people(
        self,
        names: Sequence[str] = (),
        role: Role = "assessor",
        *,
        renew: Sequence[str] = (),
        revoke: Sequence[str] = (),
    ) -> dict[str, str]:
        """Revoke links, renew links and add people, in this order: all of it or nothing.

        Returns
        -------
        dict of str
            Name to the token of the new link, of those renewed and of those added.
        """
        with self.database.writing() as connection:
            for name in revoke:
                people.revoke(connection, name)
            tokens = {name: people.renew_token(connection, name) for name in renew}
            tokens |= people.add_people(connection, names, role)
            orders.distribute(connection, None if renew or revoke else tokens)
        return tokens

    def people(self) -> list[PersonStatus]:
        """Return everybody, by name."""
        with self.database.reading() as connection:
            return people.list_people(connection)

    def person_of_token(self, token: str) -> Person | None:
        """Return whose link it is, None for an unknown or revoked one."""
        with self.database.reading() as connection:
            return people.person_of_token(connection, token)

    def person(self, person_id: int) -> Person | None:
        """Return a person, None for an unknown or revoked one."""
        with self.database.reading() as connection:
            return people.read_person(connection, person_id)

    def confirm_instructions(self, person_id: int) -> None:
        """Note that a person has read the instructions."""
        with self.database.writing() as connection:
            people.confirm_instructions(connection, person_id)

    def set_language(self, person_id: int, language: str) -> None:
        """Note the language that a person chose, such as ``pt``."""
        with self.database.writing() as connection:
            people.set_language(connection, person_id, language)

    def task(self, person_id: int, pair_id: int) -> Task | None:
        """Return a pair of this person; None for any other number."""
        with self.database.reading() as connection:
            return tasks.read_task(connection, person_id, pair_id)

    def next_open(self, person_id: int, after: int | None = None) -> Task | None:
        """Return the next pair without an answer, not even a skip, from the start after the end.

        Parameters
        ----------
        after
            The pair to go on from; from the start without one, or with one of somebody else's.
        """
        with self.database.reading() as connection:
            return tasks.next_open(connection, person_id, after)

    def neighbours(self, person_id: int, pair_id: int) -> tuple[int | None, int | None]:
        """Return the pairs before and after one in this person's order."""
        with self.database.reading() as connection:
            return tasks.neighbours(connection, person_id, pair_id)

    def query_tasks(self, person_id: int, query_id: str, round: Round = "first") -> list[Task]:  # noqa: A002
        """Return this person's pairs of a query in one round, in their order."""
        with self.database.reading() as connection:
            return tasks.query_tasks(connection, person_id, query_id, round)

    def progress(self, person_id: int) -> list[QueryProgress]:
        """Return how far a person is with each of their queries."""
        with self.database.reading() as connection:
            return tasks.progress(connection, person_id)

    def progress_part(
        self,
        person_id: int,
        round: Round,  # noqa: A002
        first: int,
        last: int,
    ) -> list[QueryProgress]:
        """Return how far a person is with the queries at some positions, counted from 1."""
        with self.database.reading() as connection:
            return tasks.progress_part(connection, person_id, round, first, last)

    def total_progress(self, person_id: int) -> dict[Round, RoundProgress]:
        """Return how far a person is with each round that they have pairs in."""
        with self.database.reading() as connection:
            return tasks.total_progress(connection, person_id)

    def first_skipped(self, person_id: int) -> Task | None:
        """Return the first pair in a person's order that they put off."""
        with self.database.reading() as connection:
            return tasks.first_skipped(connection, person_id)

    def answer(
        self,
        person_id: int,
        pair_id: int,
        *,
        choice: Choice,
        grade: int | None,
        comment: str,
        seconds: float,
        submission_id: str,
        based_on: int | None = None,
        replaces: Collection[str] = (),
    ) -> Answer:
        """Store an answer; it is on the disk when this returns, once for each submission.

        Parameters
        ----------
        based_on, replaces
            What the person saw when they answered, see `answers.give_answer`.

        Raises
        ------
        AnnotationError
            See `answers.give_answer`; nothing is stored then.
        """
        with self.database.writing() as connection:
            return answers.give_answer(
                connection,
                person_id,
                pair_id,
                choice=choice,
                grade=grade,
                comment=comment,
                seconds=seconds,
                submission_id=submission_id,
                based_on=based_on,
                replaces=replaces,
            )

    def last_change(self, person_id: int) -> int | None:
        """Return the number of a person's last answer that can be taken back, None without any."""
        with self.database.reading() as connection:
            return answers.last_change(connection, person_id)

    def undo(self, person_id: int, event_id: int | None = None) -> Task | None:
        """Take back an answer of a person, once; what counted before counts again.

        Parameters
        ----------
        event_id
            The answer's number in the history; the last answer unless given.
        """
        with self.database.writing() as connection:
            if event_id is None:
                event_id = answers.last_change(connection, person_id)
            return answers.undo(connection, person_id, event_id)

    def document(self, doc_id: str) -> DocumentView | None:
        """Return a document as it is shown, None for an unknown one."""
        with self.database.reading() as connection:
            return documents.read_document(connection, doc_id)

    def search(self, text: str, limit: int = 20) -> list[Hit]:
        """Find documents by words of their titles, subjects and numbers, the best first."""
        with self.database.reading() as connection:
            return documents.search_documents(connection, text, limit)

    def suggest(
        self,
        person_id: int,
        query_id: str,
        doc_id: str,
        *,
        grade: int,
        reason: str,
        submission_id: str,
    ) -> Suggestion:
        """Store a further document for a query; it is on the disk when this returns."""
        with self.database.writing() as connection:
            return suggestions.suggest(
                connection,
                person_id,
                query_id,
                doc_id,
                grade=grade,
                reason=reason,
                submission_id=submission_id,
            )

    def suggestions(self, person_id: int, query_id: str) -> list[Suggestion]:
        """Return what a person suggested for a query."""
        with self.database.reading() as connection:
            return suggestions.suggestions_of(connection, person_id, query_id)

    def overview(self) -> Overview:
        """Return progress, agreement so far and the most disputed pairs."""
        with self.database.reading() as connection:
            return overview.read_overview(connection)

    def start_adjudication(self, names: Sequence[str], pairs: Iterable[Pair]) -> int:
        """Show pairs again to chosen people, blind; return how many tasks that added."""
        with self.database.writing() as connection:
            return adjudication.start_adjudication(connection, names, pairs)

    def judgments(self, counts: Counting | None = None) -> pd.DataFrame:
        """Return the judgments that count, see `judgments.judgments_table`.

        Parameters
        ----------
        counts
            Which round counts; as the campaign's settings say unless given.
        """
        with self.database.reading() as connection:
            settings = campaign.read_settings(connection)
            return judgments.judgments_table(connection, counts or settings.annotation.counts)

    def answers(self) -> pd.DataFrame:
        """Return every answer and suggestion ever given, see `judgments.answers_table`."""
        with self.database.reading() as connection:
            return judgments.answers_table(connection)

    def import_judgments(self, path: Path) -> int:
        """Bring in judgments from a CSV or JSON lines; return how many are new."""
        with self.database.writing() as connection:
            return judgments.import_judgments(connection, path)

    def _store_documents(self, collection: pd.DataFrame | Iterable[pd.DataFrame]) -> int:
        """Store documents chunk by chunk, so that nobody who judges waits for all of them."""
        chunks = [collection] if isinstance(collection, pd.DataFrame) else collection
        n_changed = 0
        for chunk in chunks:
            with self.database.writing() as connection:
                n_changed += documents.store_documents(connection, chunk)
        return n_changed
