"""The step that writes the report: it takes every table that the page shows."""

import pytest
from kedro.io import DataCatalog, MemoryDataset
from kedro.runner import SequentialRunner
from lxml import html
from tests.pipelines.system_level import settings_of
from tests.reporting.report_world import SCALE, report_tables

from normastcu.pipelines.meta_evaluation.report_pipeline import create_report_pipeline
from normastcu.reporting.report_figures import FIGURES
from normastcu.reporting.report_provenance import FILES
from normastcu.reporting.report_table_specs import TABLES

MADE_OF_OTHERS = {
    "system_measures": {"measures", "table_9"},
    "correlations": {"rank_correlation"},
    "files": set(FILES),
    "settings": set(),
}


def run(pipeline, tables):
    settings = settings_of({}) | {"scale": SCALE, "collection": "sample"}
    given = tables | {f"params:{name}": value for name, value in settings.items()}
    needed = {name: given[name] for name in pipeline.inputs()}
    catalog = DataCatalog({name: MemoryDataset(value) for name, value in needed.items()})
    return {
        name: dataset.load() for name, dataset in SequentialRunner().run(pipeline, catalog).items()
    }


def test_every_table_of_the_page_is_an_input():
    inputs = create_report_pipeline(judging=True, ranking=True, pooling=True).inputs()
    needed = set().union(*(MADE_OF_OTHERS.get(name, {name}) for name in TABLES))
    needed |= {figure.needs for figure in FIGURES.values()}
    tables = {name for name in inputs if not name.startswith("params:")}
    assert tables == needed | {"annotators", "mean_grades"}


@pytest.mark.parametrize(
    ("parts", "absent"),
    [
        ({"judging": False, "ranking": True}, {"cost", "pool_report"}),
        ({"judging": True, "ranking": False}, {"verdict", "systems", "measures"}),
        ({"judging": False, "ranking": False}, {"cost", "verdict", "params:verdict_rule"}),
    ],
)
def test_what_no_pipeline_makes_is_no_input(parts, absent):
    inputs = create_report_pipeline(**parts).inputs()
    assert not absent & inputs
    assert {"params:collection", "params:scale", "kappa", "judge_summary"} <= inputs


def test_without_systems_it_writes_both_pages():
    empty = dict.fromkeys(("missing_values", "corpus_statistics", "corpus_provenance"))
    tables = report_tables()
    absent = {name: tables["judges"].head(0) for name in empty}
    pages = run(create_report_pipeline(judging=True, ranking=False), tables | absent)
    assert set(pages) == {"report_en", "report_pt"}
    for language in ("en", "pt"):
        page = html.document_fromstring(pages[f"report_{language}"])
        assert page.xpath("string(/html/@lang)") == language
        assert page.xpath("//div[@id='figure-kappa']//svg")
        assert page.xpath("//div[@id='table-cost']//tbody/tr")
        assert not page.xpath("//div[@id='table-verdict']//table")
