"""The lexical baseline, worked out by hand."""

from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from normastcu.collection.settings import GradeScale
from normastcu.judging.errors import JudgingError
from normastcu.judging.lexical import lexical_grades, overlap, thresholds
from normastcu.judging.settings import LexicalSettings

USUAL = LexicalSettings()
QUERIES = pd.DataFrame(
    {"query_id": ["1", "2"], "text": ["concessão de diárias a servidores", "???"]}, dtype="str"
)
DOCUMENTS = pd.DataFrame(
    {
        "doc_id": ["a", "b", "c", "d", "e"],
        "text": [
            "Dispõe sobre a CONCESSAO de diária ao servidor.",
            "Concessão de férias.",
            "Regimento interno de licitações.",
            "",
            "Concessão e pagamento de diárias.",
        ],
        "subject": ["", "", "", "Diárias", ""],
    },
    dtype="str",
)


def scale(highest: int) -> GradeScale:
    grades = [{"grade": grade, "name": f"g{grade}"} for grade in range(highest + 1)]
    return GradeScale.model_validate({"grades": grades})


@pytest.mark.parametrize(
    ("query", "document", "settings", "share"),
    [
        # concessao, diaria, servid(ores): cut to six letters.
        ("concessão de diárias a servidores", "diária do servidor", USUAL, 2 / 3),
        ("Diárias, diárias e diárias", "DIARIA", USUAL, 1.0),
        ("diárias", "", USUAL, 0.0),
        ("quem é ela", "quem foi", USUAL, 1 / 3),
        ("de diárias", "de", LexicalSettings(stopwords="none"), 1 / 2),
        ("the allowances", "the", LexicalSettings(stopwords="en"), 0.0),
        ("diárias", "diária", LexicalSettings(prefix=20), 0.0),
        ("art. 253/2012", "Resolução 253, de 2012", USUAL, 2 / 3),
        ("??? —", "texto", USUAL, None),
        ("_", "_", USUAL, None),
    ],
)
def test_overlap(query: str, document: str, settings: LexicalSettings, share: float | None) -> None:
    assert overlap(query, document, settings) == (None if share is None else pytest.approx(share))


def test_pairs_are_graded_by_thresholds() -> None:
    pairs = pd.DataFrame(
        {"query_id": ["1", "1", "1", "1", "1", "2"], "doc_id": ["e", "a", "b", "c", "d", "a"]},
        dtype="str",
    )

    graded = lexical_grades(pairs, QUERIES, DOCUMENTS, USUAL, scale(2))

    assert graded["doc_id"].tolist() == ["e", "a", "b", "c", "d", "a"]
    # Three terms; d is judged by its subject. Evenly spaced: half of them for 1, all for 2.
    expected = [2 / 3, 1, 1 / 3, 0, 1 / 3]
    assert graded["overlap"].tolist()[:5] == pytest.approx(expected)
    assert graded["grade"].tolist()[:5] == [1, 2, 0, 0, 0]
    # A query without a word has no grade; that is not a 0.
    assert graded.iloc[5][["overlap", "grade"]].isna().all()
    assert str(graded["grade"].dtype) == "Int64"


def test_stated_thresholds_and_other_scales() -> None:
    pairs = pd.DataFrame({"query_id": ["1"] * 3, "doc_id": ["a", "b", "e"]}, dtype="str")

    stated = LexicalSettings(thresholds={1: 0.3, 2: 0.6, 3: 0.9})
    graded = lexical_grades(pairs, QUERIES, DOCUMENTS, stated, scale(3))

    assert graded["grade"].tolist() == [3, 1, 2]
    assert thresholds(USUAL, scale(1)) == {0: 0.0, 1: 1.0}
    assert thresholds(USUAL, scale(4)) == {0: 0.0, 1: 0.25, 2: 0.5, 3: 0.75, 4: 1.0}


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({1: 0.5}, r"are for the grades \[1\]: state one for each of \[1, 2\]"),
        ({0: 0.1, 1: 0.5, 2: 1.0}, "are for the grades"),
        ({1: 0.5, 2: 0.5}, "must rise"),
        ({1: 0.0, 2: 0.5}, "must rise"),
        ({1: 0.5, 2: 1.1}, "up to 1"),
    ],
)
def test_thresholds_that_do_not_fit(limits: dict[int, float], message: str) -> None:
    with pytest.raises(JudgingError, match=message):
        thresholds(LexicalSettings(thresholds=limits), scale(2))


@given(st.text(), st.text())
def test_a_document_that_repeats_the_query_holds_all_of_it(query: str, other: str) -> None:
    share = overlap(query, f"{other} {query} {other}", USUAL)

    assert share in (None, 1.0)


def test_the_judged_pairs_of_a_real_collection_with_grades_to_3(shared_data: Path) -> None:
    folder = shared_data / "juristcu"
    tables = {name: pd.read_csv(folder / f"{name}.csv", dtype="str") for name in ("doc", "query")}
    queries = tables["query"].rename(columns={"ID": "query_id", "TEXT": "text"})
    documents = tables["doc"].rename(columns={"ID": "doc_id", "ENUNCIADO": "text"})
    reference = pd.read_csv(folder / "qrel.csv", dtype="str")
    pairs = reference.rename(columns={"QUERY_ID": "query_id", "DOC_ID": "doc_id"})

    graded = lexical_grades(pairs, queries, documents, USUAL, scale(3))

    assert len(graded) == 2250
    assert graded["grade"].notna().all()
    assert set(graded["grade"]) == {0, 1, 2, 3}
    # It is a poor judge, but not a blind one.
    assert graded["overlap"].astype(float).corr(pairs["SCORE"].astype(float), "spearman") > 0.2
