"""The report: whole, right in its numbers, safe, and the same in both languages."""

import base64
import hashlib
import math
import re

import pandas as pd
import pytest
from lxml import html
from tests.reporting.report_world import (
    FAMILIES,
    LIKE_PEOPLE,
    MUTE,
    NOISY,
    SCALE,
    report_content,
    report_tables,
)

from normastcu.reporting.report import ReportContent, report_page
from normastcu.reporting.report_figures import FIGURES
from normastcu.reporting.report_provenance import CONTENTS
from normastcu.reporting.report_sections import SECTIONS
from normastcu.reporting.report_table_specs import TABLES
from normastcu.reporting.report_tables import MOST_ROWS, rows_of

LANGUAGES = ("en", "pt")
MARKS = {"en": (",", "."), "pt": (".", ",")}


@pytest.fixture(scope="module")
def tables():
    return report_tables()


@pytest.fixture(scope="module")
def pages(tables):
    return {language: report_page(report_content(tables), language) for language in LANGUAGES}


def parsed(page):
    return html.document_fromstring(page)


def number(shown, language):
    """Read a number of the page; a dash or a reason is missing."""
    if shown == "–" or shown.startswith(("undefined: ", "indefinido: ")):
        return math.nan
    thousands, decimal = MARKS[language]
    plain = shown.replace("\u2212", "-").replace(thousands, "").replace(decimal, ".")
    return float(plain.removesuffix("\u00a0%"))


def grid(page, name):
    """Return the cells of a table: the values, without what stands below them."""
    rows = parsed(page).xpath(f"//div[@id='table-{name}']//tbody/tr")
    return [[(cell.text or "").strip() for cell in row] for row in rows]


def headings(page, name):
    return [
        cell.text_content() for cell in parsed(page).xpath(f"//div[@id='table-{name}']//thead//th")
    ]


def notes(page, name):
    return parsed(page).xpath(f"//div[@id='table-{name}']//tbody//small/text()")


class TestPage:
    @pytest.mark.parametrize("language", LANGUAGES)
    def test_ids_are_unique_and_every_anchor_is_there(self, pages, language):
        document = parsed(pages[language])
        ids = document.xpath("//@id")
        assert len(ids) == len(set(ids))
        anchors = [link[1:] for link in document.xpath("//@href") if link.startswith("#")]
        assert len(anchors) > 30
        assert set(anchors) <= set(ids)
        used = re.findall(r"url\(#([^)]+)\)", pages[language])
        assert used
        assert set(used) <= set(ids)

    @pytest.mark.parametrize("language", LANGUAGES)
    def test_nothing_is_loaded_from_anywhere(self, pages, language):
        document = parsed(pages[language])
        assert not document.xpath("//@src | //@srcset | //link | //iframe | //object | //@action")
        addresses = document.xpath("//@href")
        assert all(address.startswith(("#", "data:image/png;base64,")) for address in addresses)
        assert not re.search(r"@import|url\((?!#)", pages[language])
        assert "http" not in re.sub(r"http-equiv", "", pages[language])

    @pytest.mark.parametrize("language", LANGUAGES)
    def test_the_page_allows_its_own_script_alone(self, pages, language):
        document = parsed(pages[language])
        policy = document.xpath("string(//meta[@http-equiv='Content-Security-Policy']/@content)")
        (script,) = document.xpath("//script/text()")
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        assert policy.startswith(f"default-src 'none'; script-src 'sha256-{digest}';")
        assert not document.xpath("//@*[starts-with(name(), 'on')]")

    def test_both_languages_have_the_same_sections_tables_and_figures(self, pages):
        parts = "//section/@id | //div[contains(@class, 'block')]/@id | //nav//@href"
        found = [parsed(pages[language]).xpath(parts) for language in LANGUAGES]
        assert found[0] == found[1]
        assert {f"table-{name}" for name in TABLES} <= set(found[0])
        assert {f"figure-{name}" for name in FIGURES} <= set(found[0])
        assert set(SECTIONS) <= set(found[0])
        assert parsed(pages["pt"]).xpath("string(/html/@lang)") == "pt"

    def test_every_table_and_figure_has_its_section(self):
        named = [name for blocks in SECTIONS.values() for name in blocks]
        assert len(named) == len(set(named))
        figures = {name.removeprefix("figure:") for name in named if name.startswith("figure:")}
        assert figures == set(FIGURES)
        assert set(named) - {f"figure:{name}" for name in figures} == set(TABLES) - {
            "settings",
            "files",
        }

    @pytest.mark.parametrize("language", LANGUAGES)
    def test_nothing_missing_is_shown_as_a_number(self, pages, language):
        document = parsed(pages[language])
        shown = [cell.text_content() for cell in document.xpath("//td | //th | //li | //p")]
        assert not [text for text in shown if re.search(r"\b(nan|NaN|None|NA)\b", text)]

    def test_the_same_content_gives_the_same_page(self, tables, pages):
        assert report_page(report_content(tables), "en") == pages["en"]

    @pytest.mark.parametrize("language", LANGUAGES)
    def test_names_stay_texts(self, pages, language):
        document = parsed(pages[language])
        assert NOISY in [name.text_content() for name in document.xpath("//article/h4")]
        assert not document.xpath("//i | //dense | //relevant")
        nasty = "</title><script>alert(1)</script>\x00"
        page = report_page(ReportContent(nasty, SCALE, {}), language)
        assert len(parsed(page).xpath("//script")) == 1
        assert "</title><script>alert" not in page
        assert "\x00" not in page


class TestNumbers:
    @pytest.mark.parametrize("language", LANGUAGES)
    @pytest.mark.parametrize(
        ("name", "columns"),
        [
            ("grade_counts", {2: "grade", 3: "n"}),
            ("bias", {2: "n", 4: "me", 5: "me_std", 6: "mae", 7: "mae_std"}),
            ("alpha", {3: "alpha_ordinal", 7: "n_queries"}),
            ("rank_correlation", {5: "n_systems", 6: "value", 10: "n_queries"}),
            ("judge_bias", {3: "n", 4: "me"}),
            ("verdict", {8: "n_systems"}),
            ("confusion", {3: "n"}),
        ],
    )
    def test_columns_are_those_of_the_table(self, tables, pages, language, name, columns):
        rows = grid(pages[language], name)
        for place, column in columns.items():
            shown = [number(row[place], language) for row in rows]
            values = tables[name][column].astype("Float64").to_numpy(float, na_value=math.nan)
            assert shown == pytest.approx(values.tolist(), abs=5.1e-4, nan_ok=True)

    @pytest.mark.parametrize("language", LANGUAGES)
    def test_every_rank_correlation(self, tables, pages, language):
        table = tables["rank_correlation"]
        place = 6
        shown = [row[place] for row in grid(pages[language], "rank_correlation")]
        for text, value, reason in zip(shown, table["value"], table["undefined"], strict=True):
            if pd.isna(value):
                assert text.startswith({"en": "undefined: ", "pt": "indefinido: "}[language])
                assert language == "pt" or text.endswith(reason)
            else:
                assert number(text, language) == pytest.approx(value, abs=5e-5)

    def test_the_table_of_systems_beside_its_source(self, tables, pages):
        rows, table = grid(pages["en"], "system_measures"), tables["table_9"]
        names = headings(pages["en"], "system_measures")
        assert [row[0] for row in rows] == list(FAMILIES)
        for measure in ("P@10", "nDCG@10", "MRR", "Judged@10"):
            place = names.index(measure)
            shown = [number(row[place], "en") for row in rows]
            assert shown == pytest.approx(table[measure].tolist(), abs=5e-5)
        ranks = [note.split("\n")[0] for note in notes(pages["en"], "system_measures")]
        assert f"rank {table['P@10_rank'].iloc[0]}" == ranks[0]

    def test_the_table_of_correlations_beside_its_source(self, tables, pages):
        rows, table = grid(pages["pt"], "correlations"), tables["table_13"]
        names = headings(pages["pt"], "correlations")
        place = names.index("nDCG@10, tau-b")
        for row, value in zip(rows, table["nDCG@10_tau_b"], strict=True):
            assert pd.isna(value) == row[place].startswith("indefinido")
            if not pd.isna(value):
                assert number(row[place], "pt") == pytest.approx(value, abs=5e-5)

    def test_an_interval_stands_below_its_estimate(self, tables, pages):
        row = tables["bias"].iloc[0]
        low, high = (number(text, "en") for text in notes(pages["en"], "bias")[0].split(" to "))
        assert low == pytest.approx(row["ci95_low"], abs=5e-4)
        assert high == pytest.approx(row["ci95_high"], abs=5e-4)

    @pytest.mark.parametrize("language", LANGUAGES)
    @pytest.mark.parametrize(
        ("name", "place"), [("rank_correlation", 7), ("shrunken_correlation", 7), ("alpha", 4)]
    )
    def test_intervals_in_columns_of_their_own(self, tables, pages, language, name, place):
        assert (
            headings(pages[language], name)[place : place + 2]
            == {
                "en": ["90\u00a0% interval", "95\u00a0% interval"],
                "pt": ["intervalo de 90\u00a0%", "intervalo de 95\u00a0%"],
            }[language]
        )
        to = {"en": " to ", "pt": " a "}[language]
        for cells, row in zip(grid(pages[language], name), rows_of(tables[name]), strict=True):
            for shown, ends in ((cells[place], "ci90"), (cells[place + 1], "ci95")):
                found = [number(text, language) for text in shown.split(to)]
                stated = [row[f"{ends}_low"], row[f"{ends}_high"]]
                if pd.isna(stated[0]):
                    assert shown == "–"
                else:
                    assert found == pytest.approx(stated, abs=5.1e-4)

    def test_a_reason_is_said_in_the_language_of_the_page(self, pages):
        kappas = {language: grid(pages[language], "kappa") for language in LANGUAGES}
        mute = {
            language: next(row for row in rows if MUTE in row[:2])
            for language, rows in kappas.items()
        }
        assert "undefined: no pair was graded by both" in mute["en"]
        assert "indefinido: nenhum par teve nota de ambos" in mute["pt"]

    def test_a_long_table_is_cut_and_says_so(self, tables):
        many = pd.concat([tables["confusion"]] * 200, ignore_index=True)
        assert len(many) > MOST_ROWS
        page = report_page(report_content({"confusion": many}), "en")
        assert len(grid(page, "confusion")) == MOST_ROWS
        said = parsed(page).xpath("string(//div[@id='table-confusion']/p[@class='file'])")
        assert said.split("\n")[0] == (
            f"The first {MOST_ROWS} of {len(many)} rows; all of them are in tables/confusion.csv."
        )
        digest = parsed(page).xpath("string(//code[@id='settings-hash'])")
        assert said.endswith(f"Settings {digest[:12]}.")


class TestSummary:
    def test_the_judges_come_best_first_with_what_is_said_of_them(self, pages):
        articles = parsed(pages["en"]).xpath("//article")
        names = [article.xpath("string(h4)") for article in articles]
        badges = [article.xpath("string(p[@class='badge'])") for article in articles]
        assert names[0] == LIKE_PEOPLE
        assert badges == ["usable to rank systems", "no judge to trust", "no judge to trust"]

    def test_the_cost_and_the_coverage_stand_beside_it(self, pages):
        first = parsed(pages["pt"]).xpath("//article")[0].text_content()
        assert "Custo de 1.000 pares: 0,25" in first
        assert "100,0\u00a0% dos pares que lhe foram pedidos (96 de 96)" in first
        mute = parsed(pages["en"]).xpath(f"//article[h4='{MUTE}']")[0].text_content()
        assert "It graded only 0.0\u00a0% of the pairs" in mute
        assert "Kappa with the reference is undefined: no pair was graded by both." in mute
        assert "Cost of 1,000 pairs: unknown." in mute

    @pytest.mark.parametrize(("language", "column"), [("en", "sentence"), ("pt", "sentence_pt")])
    def test_every_verdict_is_said_in_full(self, tables, pages, language, column):
        said = parsed(pages[language]).xpath("//details[@id='verdict-sentences']//li/text()")
        assert sorted(said) == sorted(tables["verdict"][column])

    @pytest.mark.parametrize("language", LANGUAGES)
    def test_the_warning_stands_beside_the_verdict(self, tables, pages, language):
        note = report_content(tables).interval_note[language]
        assert note in parsed(pages[language]).xpath("//div[@id='how-sure']")[0].text_content()


class TestAbsent:
    @pytest.mark.parametrize("language", LANGUAGES)
    def test_of_nothing_it_is_said_why(self, language):
        page = report_page(ReportContent("nothing", SCALE, {}), language)
        empty = parsed(page).xpath("//div[contains(@class, 'empty')]/@id")
        assert len(empty) == len(TABLES) + len(FIGURES)
        assert not parsed(page).xpath("//svg")

    @pytest.mark.parametrize("language", LANGUAGES)
    def test_tables_without_rows_are_as_good_as_absent(self, tables, language):
        without = {name: table.head(0) for name, table in tables.items()}
        page = report_page(report_content(without), language)
        empty = parsed(page).xpath("//div[contains(@class, 'empty')]/@id")
        assert set(empty) == {
            *(f"table-{name}" for name in TABLES if name != "settings"),
            *(f"figure-{name}" for name in FIGURES),
        }

    def test_without_systems_the_grades_are_there(self, tables):
        ranked = {"verdict", "measures", "rank_correlation", "system_ceiling", "systems", "table_9"}
        page = report_page(
            report_content({name: own for name, own in tables.items() if name not in ranked}), "en"
        )
        said = parsed(page).xpath("//section[@id='summary']")[0].text_content()
        assert "Whether a judge can be trusted was not tested." in said
        assert "Ranking systems: not tested, because no system was measured." in said
        assert len(grid(page, "bias")) == len(tables["bias"])


class TestOrigins:
    def test_the_hash_is_over_settings_and_inputs(self, tables, pages):
        def shown(content):
            return parsed(report_page(content, "en")).xpath("string(//code[@id='settings-hash'])")

        first = parsed(pages["en"]).xpath("string(//code[@id='settings-hash'])")
        assert re.fullmatch(r"[0-9a-f]{64}", first)
        assert parsed(pages["pt"]).xpath("string(//code[@id='settings-hash'])") == first
        hashed = ("annotators", "judges", "systems", "judgment_provenance", *CONTENTS)
        few = {name: tables[name] for name in hashed if name in tables}
        assert shown(report_content(few)) == first
        other = few | {"judges": few["judges"].assign(settings_hash="00" * 32)}
        assert shown(report_content(other)) != first
        regraded = few | {"confusion": few["confusion"].assign(n=few["confusion"]["n"] + 1)}
        assert shown(report_content(regraded)) != first
        assert shown(report_content(few, "other")) != first
        settings = dict(report_content(few).settings)
        del settings["bootstrap"]
        assert shown(ReportContent("sample", SCALE, few, settings)) != first

    def test_every_setting_is_shown_and_explained(self, tables, pages):
        content = report_content(tables)
        rows = {row[0]: row[1:] for row in grid(pages["pt"], "settings")}
        expected = {
            f"{group}.{name}"
            for group, own in content.settings.items()
            for name in own.model_dump()
        }
        assert set(rows) == expected
        assert all(meaning for _, meaning in rows.values())
        assert rows["verdict_rule.bound"][0] == "0.9"

    def test_files_judges_and_systems_have_their_hashes(self, pages):
        document = parsed(pages["en"])
        for name, digest in (("files", "cd"), ("judges", "ab"), ("systems", "ef")):
            assert digest * 32 in document.xpath(f"//div[@id='table-{name}']//@title")
