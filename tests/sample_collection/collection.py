"""The whole collection as bytes, file by file."""

import csv
import io
from collections.abc import Iterable, Sequence
from string import Template

from tests.sample_collection import judging
from tests.sample_collection.acts import read_acts
from tests.sample_collection.content_folder import CONTENT
from tests.sample_collection.documents import COLUMNS, document_rows
from tests.sample_collection.provisions import with_common_provisions
from tests.sample_collection.titles import Titles, give_titles


def build() -> dict[str, bytes]:
    """Return the files of the sample collection by their path inside its folder."""
    acts = [with_common_provisions(act) for act in read_acts()]
    titles = give_titles(acts)
    documents = document_rows(acts, titles)
    queries = judging.read_queries()
    suggestions = judging.read_suggestions()
    pool = judging.read_pool()
    judgments = [*judging.assess(pool), *suggestions]
    pairs = [*pool, *(one.pair for one in suggestions)]
    files = {
        "docs.csv": _csv(COLUMNS, ([row[name] for name in COLUMNS] for row in documents)),
        "query.csv": _csv(("KEY", "TEXT"), queries),
        "judgments.csv": _csv(
            ("query_id", "doc_id", "annotator", "grade", "origin"),
            (_judgment_row(one, titles) for one in judgments),
        ),
    }
    for judge in judging.JUDGES:
        files[f"llm_labels/{judge}.csv"] = _csv(
            ("QUERY_KEY", "DOC_KEY", "SCORE"),
            (
                (pair.query_id, titles.key[pair.slug], str(grade))
                for pair, grade in judging.label(judge, pairs)
            ),
        )
    counts = judging.summary(judgments)
    readme = Template((CONTENT / "README.md").read_text(encoding="utf-8")).substitute(
        n_documents=len(documents),
        n_queries=len(queries),
        n_pairs=len(pairs),
        n_judgments=len(judgments),
        n_cannot_judge=counts["cannot judge"],
        n_suggested=counts["suggested grades"],
    )
    files["README.md"] = readme.encode()
    return files


def _judgment_row(one: judging.Judgment, titles: Titles) -> tuple[str, ...]:
    grade = "" if one.grade is None else str(one.grade)
    return one.pair.query_id, titles.key[one.pair.slug], one.annotator, grade, one.origin


def _csv(header: Sequence[str], rows: Iterable[Sequence[str]]) -> bytes:
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return text.getvalue().encode()
