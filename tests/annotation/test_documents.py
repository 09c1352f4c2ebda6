"""Documents shown and searched."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st


def found(campaign, text, **limit):
    return [hit.doc_id for hit in campaign.store.search(text, **limit)]


def test_a_document_is_shown_with_its_markup_or_its_text_in_paragraphs(campaign):
    with_markup = campaign.store.document("d1")
    assert (with_markup.html, with_markup.text) == ("<p>Um</p>", "Um")
    assert (with_markup.type, with_markup.status, with_markup.in_force_since) == (
        "Portaria",
        "vigente",
        "01/02/2020",
    )
    text_only = campaign.store.document("d2")
    assert text_only.html == "<p>Dois &lt;b&gt;</p>\n<p>linhas</p>\n"
    assert campaign.store.document("d3").html is None


@pytest.mark.parametrize("doc_id", ["d9", "../../etc/passwd", "\ud800", ""])
def test_an_unknown_document_is_none(campaign, doc_id):
    assert campaign.store.document(doc_id) is None


@pytest.mark.parametrize(
    ("text", "doc_ids"),
    [
        ("licenca CAPACITACAO", ["d1"]),
        ("licenc\u0327a", ["d1"]),
        ("capacit", ["d1"]),
        ("315/2020", ["d1"]),
        ("resolução nº 7", ["d2"]),
        ("d4", ["d4"]),
        ("diárias", ["d5", "d3"]),
        ("inexistente portaria", ["d1", "d3"]),
        ("zzz", []),
        ("", []),
        ('" OR *', []),
        ("title:NEAR(", []),
        ("_ - ^ : ' \" ( ) { } \x00", []),
    ],
)
def test_search_takes_words_without_accents_beginnings_numbers_and_ids(campaign, text, doc_ids):
    assert sorted(found(campaign, text)) == sorted(doc_ids)


def test_more_words_of_a_document_that_fit_rank_it_higher(campaign):
    assert found(campaign, "instrução zzz diárias")[0] == "d5"


@pytest.mark.parametrize(("limit", "n"), [(1, 1), (20, 2), (0, 1), (-5, 1), (10**30, 2)])
def test_a_limit_is_kept_within_reason(campaign, limit, n):
    assert len(found(campaign, "portaria", limit=limit)) == n


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.text() | st.text(alphabet='"*():^-+{}~ ANDORNEAR\x00'))
def test_no_text_breaks_the_search(campaign, text):
    assert set(found(campaign, text)) <= {"d1", "d2", "d3", "d4", "d5"}
