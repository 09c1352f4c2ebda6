"""Raw replies that were made elsewhere, as attempts of the reply store.

A reply from a file is kept as what it is: it has a key of its own, under which no live judge ever
looks, and its grade is read by our reader. The grade that stands beside it in the file is compared
with ours, never taken over.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pydantic import Field

from normastcu.collection.delimited import check_id, find_layout, read_records
from normastcu.collection.judgments import read_grade
from normastcu.collection.settings import TableFormat
from normastcu.collection.sources import RawFile
from normastcu.judging.errors import JudgingError
from normastcu.judging.replies import read_reply
from normastcu.judging.requests import Attempt
from normastcu.judging.settings import judge_name

RELEASED_REPLIES = {
    "query_id": "QUERY_KEY",
    "doc_id": "DOC_KEY",
    "grade": "AVALIACAO",
    "model": "MODELO",
    "prompt": "PROMPT",
    "reply": "PAYLOAD_LLM",
}
REPLY_PRESETS = (RELEASED_REPLIES, {name: name for name in RELEASED_REPLIES})
UNKNOWN_TIME = ""
"""When an imported reply was made: the file doesn't say, and the time of the import isn't it."""

_ONLY_SAMPLE = 0


class ReplyFileFormat(TableFormat):
    """How a file of raw replies is written, and which fields of a reply hold what.

    Attributes
    ----------
    grade_field, rationale_field
        As the prompt behind the replies declared them; None where no reason was asked for.
    """

    grade_field: str = "score"
    rationale_field: str | None = "justificativa"


class ImportedReplies(ReplyFileFormat):
    """How files of raw replies are written, and whose they are.

    Attributes
    ----------
    names
        ``{model}_{prompt}`` as the files have them to the judge's name.
    """

    names: dict[str, str] = Field(default_factory=dict)


RELEASED_FORMAT = ReplyFileFormat()
"""The released replies: UTF-8, columns by the header, the fields of the paper's prompts."""


@dataclass(frozen=True)
class GradeDifference:
    """A reply whose grade we read otherwise than the file states it.

    Attributes
    ----------
    file, line
        Where the reply starts.
    query_id, doc_id, judge
        Whose reply it is.
    ours, theirs
        The grades; None is no grade.
    """

    file: str
    line: int
    query_id: str
    doc_id: str
    judge: str
    ours: int | None
    theirs: int | None


@dataclass(frozen=True)
class ReleasedComparison:
    """The grades of a file beside those that we read from its replies.

    Attributes
    ----------
    n_replies
        Replies compared, identical duplicates counted once.
    n_equal
        Replies with a grade, and the same in both.
    n_ungraded
        Replies without a grade in both (the file's is empty or negative).
    differences
        All others, in the order of the file.
    """

    n_replies: int
    n_equal: int
    n_ungraded: int
    differences: tuple[GradeDifference, ...]


def read_released_replies(
    file: RawFile,
    names: Mapping[str, str],
    scale: Sequence[int],
    settings: ReplyFileFormat = RELEASED_FORMAT,
) -> Iterator[Attempt]:
    r"""Read the raw replies of a file, such as the released ones.

    Parameters
    ----------
    file
        A CSV with the released columns (QUERY_KEY, DOC_KEY, AVALIACAO, MODELO, PROMPT,
        PAYLOAD_LLM), the canonical ones (query_id, doc_id, grade, model, prompt, reply) or
        declared ones. The column of the grade may be missing.
    names
        ``{model}_{prompt}`` as the file has them to the judge's name; what is not listed keeps
        its name.
    scale
        The grades of the collection.
    settings
        Encoding, separator, columns, and the fields of a reply.

    Yields
    ------
    Attempt
        One for each reply, in the order of the file, identical duplicates once. A reply without
        a stated finish reason counts as complete. What the file does not tell (tokens, latency,
        time) is missing, so that the same bytes give the same attempts whenever they are read.

    Raises
    ------
    JudgingError
        If two replies of one judge to one pair differ (both lines are named), or there is none.
    normastcu.collection.errors.CollectionError
        If the file can't be read, or an id or a name in it is empty or holds white space.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from normastcu.collection.sources import local_file
    >>> path = Path(tempfile.mkdtemp()) / "raw.csv"
    >>> _ = path.write_text(
    ...     "QUERY_KEY,DOC_KEY,AVALIACAO,MODELO,PROMPT,PAYLOAD_LLM\n"
    ...     '1,NORMA-7,2,m-2026,cot,"{""score"": 2}"\n',
    ...     encoding="utf-8",
    ... )
    >>> replies = read_released_replies(local_file(path), {"m-2026_cot": "m_rationale"}, (0, 1, 2))
    >>> [(reply.judge, reply.doc_id, reply.outcome, reply.grade) for reply in replies]
    [('m_rationale', 'NORMA-7', 'ok', 2)]
    """
    for released in _released(file, names, settings):
        yield _attempt(released, file, scale, settings)


def compare_with_released(
    file: RawFile,
    names: Mapping[str, str],
    scale: Sequence[int],
    settings: ReplyFileFormat = RELEASED_FORMAT,
) -> ReleasedComparison:
    """Compare the grades that a file states with those that we read from its replies.

    Parameters and errors are those of `read_released_replies`; here a stated grade must be a
    whole number or empty. In a file without the column of the grade there is nothing to compare.
    """
    n_replies = n_equal = n_ungraded = 0
    differences = []
    for released in _released(file, names, settings):
        if "grade" not in released.cells:
            break
        ours = _attempt(released, file, scale, settings).grade
        theirs = read_grade(released.cells["grade"], None, "unjudged", released.where(file))
        n_replies += 1
        if ours != theirs:
            pair = released.query_id, released.doc_id
            differences.append(
                GradeDifference(file.name, released.line, *pair, released.judge, ours, theirs)
            )
        elif ours is None:
            n_ungraded += 1
        else:
            n_equal += 1
    return ReleasedComparison(n_replies, n_equal, n_ungraded, tuple(differences))


@dataclass(frozen=True)
class _Released:
    """One row of a file: where it starts, whose reply it is, and its cells by canonical column."""

    line: int
    judge: str
    cells: Mapping[str, str]

    @property
    def query_id(self) -> str:
        return self.cells["query_id"]

    @property
    def doc_id(self) -> str:
        return self.cells["doc_id"]

    def where(self, file: RawFile) -> str:
        return f"{file.name}, line {self.line}"


def _released(
    file: RawFile, names: Mapping[str, str], settings: ReplyFileFormat
) -> Iterator[_Released]:
    """Read the rows of a file, each reply of a judge to a pair once."""
    layout = find_layout(file, settings, REPLY_PRESETS, optional=("grade",))
    earlier: dict[tuple[str, str, str], _Released] = {}
    for record in read_records(file, layout):
        cells = dict(zip(layout.columns, record.cells, strict=True))
        row = _Released(
            record.line, _judge(cells, names, f"{file.name}, line {record.line}"), cells
        )
        first = earlier.setdefault((row.judge, row.query_id, row.doc_id), row)
        if first.cells != row.cells:
            raise JudgingError(
                f"{row.where(file)}: {row.judge} replied to query {row.query_id!r} and document "
                f"{row.doc_id!r}, but otherwise on line {first.line}. Keep one of the two, or name "
                "the judges so that they can be told apart."
            )
        if first is row:
            yield row
    if not earlier:
        raise JudgingError(f"{file.name} has no replies: at least one row is expected.")


def _judge(cells: Mapping[str, str], names: Mapping[str, str], where: str) -> str:
    """Return the name of the judge of a row whose ids and names are in order."""
    for column in ("query_id", "doc_id", "model", "prompt"):
        check_id(cells[column], column, where)
    made = judge_name(cells["model"], cells["prompt"])
    return check_id(names.get(made, made), "name of a judge", where)


def _attempt(
    released: _Released, file: RawFile, scale: Sequence[int], settings: ReplyFileFormat
) -> Attempt:
    content = released.cells["reply"]
    reply = read_reply(
        content,
        finish_reason=None,
        scale=scale,
        field=settings.grade_field,
        rationale_field=settings.rationale_field,
    )
    return Attempt(
        key=_key(released, file),
        query_id=released.query_id,
        doc_id=released.doc_id,
        judge=released.judge,
        sample=_ONLY_SAMPLE,
        attempt=1,
        outcome=reply.outcome,
        reply=content,
        finish_reason=None,
        refusal=None,
        grade=reply.grade,
        rationale=reply.rationale,
        tokens_in=None,
        tokens_out=None,
        latency_s=None,
        model_returned=released.cells["model"],
        characters_shown=None,
        error_kind=None,
        error_status=None,
        created=UNKNOWN_TIME,
    )


def _key(released: _Released, file: RawFile) -> str:
    """Identify a reply by the file's bytes and its place there; no planned call has such a key."""
    planned = {
        "file": file.provenance.sha256,
        "judge": released.judge,
        "prompt": released.cells["prompt"],
        "pair": [released.query_id, released.doc_id],
        "sample": _ONLY_SAMPLE,
    }
    written = json.dumps(planned, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(written.encode("ascii")).hexdigest()
