"""The committed sample collection is what its generator writes, and what its README says."""

import html
import re
from itertools import combinations
from pathlib import Path

import pandas as pd
import pytest
from sklearn.metrics import cohen_kappa_score
from tests.sample_collection.collection import build

ASSESSORS = ["A_1", "A_2", "A_3", "A_4"]
GRADES = [0, 1, 2]
RELEASED_COLUMNS = """
KEY,UNIDADEBASICAAUTORA,ORIGEM,NUMNORMA,ANONORMA,TIPONORMA,TITULO,ASSUNTO,TEXTONORMA,
DATAINICIOVIGENCIA,DATAFIMVIGENCIA,SITUACAO,TEXTOANEXO,TEMA,TAGSVCE,NORMARELACIONADA
"""
# empty cells among the 14,469 acts of the released corpus (Fernandes et al. 2026, Table 2)
RELEASED_MISSING = {
    "DATAFIMVIGENCIA": 13_629,
    "TEXTOANEXO": 13_237,
    "NORMARELACIONADA": 9_918,
    "ASSUNTO": 7_191,
    "TAGSVCE": 3_849,
    "TEMA": 3_686,
}

# What runs keep beside the committed files.
KEPT = ("*.sqlite*", "vectors/*/*", "annotation.key", "annotation_judgments.csv")


@pytest.fixture(scope="module")
def sample(project_root: Path) -> Path:
    return project_root / "data" / "01_raw" / "sample"


def committed(sample: Path) -> dict[str, bytes]:
    kept = {path for pattern in KEPT for path in sample.glob(pattern)}
    return {
        path.relative_to(sample).as_posix(): path.read_bytes()
        for path in sample.rglob("*")
        if path.is_file() and path not in kept
    }


def read(path: Path) -> pd.DataFrame:
    return pd.read_csv(path, dtype=str, keep_default_na=False)


@pytest.fixture(scope="module")
def documents(sample: Path) -> pd.DataFrame:
    return read(sample / "docs.csv")


@pytest.fixture(scope="module")
def queries(sample: Path) -> pd.DataFrame:
    return read(sample / "query.csv")


@pytest.fixture(scope="module")
def judgments(sample: Path) -> pd.DataFrame:
    return read(sample / "judgments.csv")


@pytest.fixture(scope="module")
def grades(judgments: pd.DataFrame) -> pd.DataFrame:
    """Return one row a pair, one column an assessor, empty where there is no grade."""
    graded = judgments[judgments["grade"] != ""].assign(
        grade=lambda rows: rows["grade"].astype(int)
    )
    return graded.pivot(index=["query_id", "doc_id"], columns="annotator", values="grade")


@pytest.fixture(scope="module")
def reference(grades: pd.DataFrame) -> pd.Series:
    return grades.mean(axis="columns").round().astype(int)


def kappa(one: pd.Series, other: pd.Series) -> float:
    both = pd.concat([one, other], axis="columns", join="inner").dropna().astype(int)
    return cohen_kappa_score(both.iloc[:, 0], both.iloc[:, 1], labels=GRADES, weights="quadratic")


def test_the_generator_writes_the_committed_bytes_but_for_the_recorded_replies(
    sample: Path,
) -> None:
    files = committed(sample)
    recorded = {name for name in files if name.startswith("replies/")}
    assert recorded
    assert build() == {name: content for name, content in files.items() if name not in recorded}


def test_the_collection_stays_under_two_megabytes(sample: Path) -> None:
    assert sum(map(len, committed(sample).values())) < 2_000_000


def test_documents_have_the_released_columns_and_unique_keys(documents: pd.DataFrame) -> None:
    assert ",".join(documents.columns) == RELEASED_COLUMNS.replace("\n", "")
    assert documents["KEY"].is_unique
    assert documents["KEY"].str.fullmatch(r"ATO-\d{5}").all()
    assert documents["KEY"].str.startswith("ATO-0").any()
    assert documents["TITULO"].is_unique


def test_cells_are_empty_in_the_released_proportions(documents: pd.DataFrame) -> None:
    missing = (documents == "").sum()
    for column, released in RELEASED_MISSING.items():
        assert missing[column] == round(released / 14_469 * len(documents)), column
    assert missing["TEXTONORMA"] == 1
    assert missing.drop([*RELEASED_MISSING, "TEXTONORMA"]).eq(0).all()


def test_dates_are_before_the_released_corpus_ends(documents: pd.DataFrame) -> None:
    since = pd.to_datetime(documents["DATAINICIOVIGENCIA"], format="%d/%m/%Y")
    assert since.max() < pd.Timestamp("2024-07-01")
    ended = documents["DATAFIMVIGENCIA"] != ""
    until = pd.to_datetime(documents.loc[ended, "DATAFIMVIGENCIA"], format="%d/%m/%Y")
    assert (until > since[ended]).all()
    assert documents.loc[ended, "SITUACAO"].eq("Revogada").all()
    assert documents.loc[~ended, "SITUACAO"].ne("Revogada").all()


def test_the_title_stands_in_the_text_and_carries_number_and_year(documents: pd.DataFrame) -> None:
    for row in documents.itertuples():
        assert f"nº {row.NUMNORMA}, de " in row.TITULO
        assert row.TITULO.endswith(row.ANONORMA)
        assert row.DATAINICIOVIGENCIA[-4:] >= row.ANONORMA


def test_no_slot_of_a_template_is_left_open(documents: pd.DataFrame) -> None:
    texts = documents[["ASSUNTO", "TEXTONORMA", "TEXTOANEXO"]].map(html.unescape).to_numpy().ravel()
    left_open = re.compile(r"\$\w|\{[\w-]+\}|\[\[|\]\]|\|\||[^.]\.\.<|;;|\w ,|,,")
    assert [hit for text in texts for hit in left_open.findall(text)] == []


def test_three_acts_are_very_long(documents: pd.DataFrame) -> None:
    words = documents["TEXTONORMA"].str.replace(r"<[^>]*>", "", regex=True).map(html.unescape)
    lengths = words.str.split().str.join(" ").str.len()
    assert 3 <= (lengths >= 30_000).sum() <= 5
    assert 700 <= lengths.median() <= 1_200
    assert 1_900 <= lengths.quantile(0.75) <= 3_500


def test_queries_are_of_the_real_kinds(queries: pd.DataFrame) -> None:
    assert list(queries.columns) == ["KEY", "TEXT"]
    keys, texts = queries["KEY"].tolist(), queries["TEXT"].tolist()
    assert len(keys) == len(set(keys)) == 12
    assert keys != [str(i + 1) for i in range(12)]
    assert any(text.endswith("?") for text in texts)
    assert any('"' in text for text in texts)
    assert any("desenpenho" in text for text in texts)
    assert any("," in text and "ç" in text for text in texts)


def test_twenty_documents_are_pooled_for_each_query(judgments: pd.DataFrame) -> None:
    pooled = judgments[judgments["origin"] == "pool"]
    assert pooled.groupby("query_id")["doc_id"].nunique().eq(20).all()


def test_judgments_speak_of_documents_and_queries_that_exist(
    judgments: pd.DataFrame, documents: pd.DataFrame, queries: pd.DataFrame
) -> None:
    assert list(judgments.columns) == ["query_id", "doc_id", "annotator", "grade", "origin"]
    assert set(judgments["doc_id"]) <= set(documents["KEY"])
    assert set(judgments["query_id"]) == set(queries["KEY"])
    assert set(judgments["annotator"]) == set(ASSESSORS)
    assert set(judgments["grade"]) == {"", "0", "1", "2"}
    assert not judgments.duplicated(["query_id", "doc_id", "annotator"]).any()


def test_judgments_have_holes_and_cannot_judge_and_suggestions(judgments: pd.DataFrame) -> None:
    assert 12 <= judgments["grade"].eq("").sum() <= 20
    suggested = judgments[judgments["origin"] == "suggested"]
    by_pair = judgments.groupby(["query_id", "doc_id"])["annotator"].nunique()
    assert len(suggested) == 2
    for pair in suggested[["query_id", "doc_id"]].itertuples(index=False):
        assert by_pair[tuple(pair)] == 1
    judged_queries = judgments.groupby("annotator")["query_id"].nunique()
    assert sorted(judged_queries) == [11, 12, 12, 12]
    assert len(judgments) < 12 * 20 * 4 - 20


@pytest.mark.parametrize(("one", "other"), list(combinations(ASSESSORS, 2)))
def test_people_agree_as_much_as_real_ones(grades: pd.DataFrame, one: str, other: str) -> None:
    assert 0.50 <= kappa(grades[one], grades[other]) <= 0.75


def test_the_reference_is_spread_as_the_real_one(
    grades: pd.DataFrame, reference: pd.Series
) -> None:
    assert 0.60 <= reference.eq(0).mean() <= 0.65
    assert reference.eq(1).sum() >= 30
    assert reference.eq(2).sum() >= 30
    assert (grades.mean(axis="columns") % 1).eq(0.5).sum() >= 4
    assert reference.gt(0).groupby("query_id").sum().ge(2).all()
    disagreement = (grades.max(axis="columns") - grades.min(axis="columns")).value_counts()
    assert (disagreement.loc[[0, 1, 2]] >= 10).all()


@pytest.mark.parametrize(
    ("judge", "low", "high"), [("modelo-a_simple", 0.45, 0.6), ("modelo-b_rationale", 0.25, 0.4)]
)
def test_judges_label_the_judged_pairs(
    sample: Path, reference: pd.Series, judge: str, low: float, high: float
) -> None:
    labels = read(sample / "llm_labels" / f"{judge}.csv")
    assert list(labels.columns) == ["QUERY_KEY", "DOC_KEY", "SCORE"]
    scores = labels.set_index(["QUERY_KEY", "DOC_KEY"])["SCORE"].astype(int)
    scores.index.names = reference.index.names
    assert scores.index.is_unique
    assert set(scores.index) <= set(reference.index)
    assert len(scores) >= 0.95 * len(reference)
    assert low <= kappa(scores, reference.rename("reference")) <= high


def test_only_one_judge_leaves_pairs_out(sample: Path, reference: pd.Series) -> None:
    sizes = {path.stem: len(read(path)) for path in (sample / "llm_labels").glob("*.csv")}
    assert sizes["modelo-a_simple"] == len(reference)
    assert sizes["modelo-b_rationale"] < len(reference)


def test_the_readme_states_the_numbers_of_the_files(
    sample: Path, documents: pd.DataFrame, queries: pd.DataFrame, judgments: pd.DataFrame
) -> None:
    text = " ".join((sample / "README.md").read_text(encoding="utf-8").split())
    n_pairs = len(judgments.drop_duplicates(["query_id", "doc_id"]))
    assert f"{len(documents)} normative acts" in text
    assert f"{len(queries)} queries" in text
    assert f"{n_pairs} pairs" in text
    assert f"{len(judgments)} judgments" in text
    assert f"an empty grade ({judgments['grade'].eq('').sum()} of them)" in text
    assert f"the {judgments['origin'].eq('suggested').sum()} documents" in text
