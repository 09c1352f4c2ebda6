"""Which judge to trust: decided by the numbers alone."""

import io

import pandas as pd
import pytest
from rich.console import Console

from normastcu.reporting.report_summary import summarise
from normastcu.reporting.verdict_summary import print_verdict

USABLE, NOT_SHOWN, FEW = "usable to rank systems", "not shown", "not enough systems"


def judge(name, *, kappa=0.5, coverage=1.0, assessors=0.6):
    return {
        "judge": name,
        "n": round(100 * coverage),
        "n_asked": 100,
        "coverage": coverage,
        "kappa_quadratic": kappa,
        "ci95_low": kappa - 0.1,
        "ci95_high": kappa + 0.1,
        "reading": "moderate",
        "kappa_assessors": assessors,
        "undefined": "no pair was graded by both" if pd.isna(kappa) else None,
    }


def ruling(name, verdict, *, measure="nDCG@10", shown_by="bound", cost=None, low=0.91):
    return {
        "judge": name,
        "measure": measure,
        "verdict": verdict,
        "sentence": f"{name}: {verdict}.",
        "sentence_pt": f"{name}: veredito.",
        "tau": 0.95,
        "n_systems": 3 if verdict == FEW else 12,
        "least_systems": 10,
        "ci90_low": low,
        "ci90_high": 0.99,
        "ci95_low": low - 0.05,
        "ci95_high": 1.0,
        "ci_method": "bca",
        "n_queries": 46,
        "undefined": None,
        "shown_by": shown_by if verdict == USABLE else None,
        "bound": 0.9,
        "confidence": 0.9,
        "interval": "both",
        "tau_minus_people": 0.01,
        "tau_minus_people_low": -0.04,
        "tau_minus_people_high": 0.05,
        "margin": 0.05,
        "minus_people_shrunken_low": -0.045,
        "tau_shrunken": 0.96,
        "shrunken_low": 0.93,
        "shrunken_high": 0.98,
        "cost_per_1000_pairs": cost,
    }


def rate(name, value, n=100):
    return {"annotator": name, "statistic": "winning_rate", "value": value, "n": n}


def tables_of(judges, rulings=(), rates=(), people=(0.55, 0.73), n_people=100):
    tests = [{"annotator": one["annotator"], "epsilon": 0.2} for one in rates] * n_people
    return {
        "judge_summary": pd.DataFrame(list(judges)),
        "verdict": pd.DataFrame(list(rulings)),
        "system_ceiling": pd.DataFrame(list(rates)),
        "human_kappa": pd.DataFrame({"kappa_quadratic": list(people)}),
        "replacement_tests": pd.DataFrame(tests),
    }


def test_a_usable_judge_with_its_cost_and_how_sure_it_is():
    rulings = [
        ruling("m", USABLE, measure="P@10", cost=0.4213),
        ruling("m", NOT_SHOWN, measure="MRR", cost=0.4213, low=0.7),
    ]
    summary = summarise(tables_of([judge("m")], rulings), "en")
    assert summary.trust == "ranks"
    assert summary.headline == "Usable to rank systems: m."
    assert summary.lines[1].replace("\u00a0", " ") == (
        "m: by P@10. 1,000 pairs cost: 0.42. Pairs graded: 100.0 %. How sure: the 90 % intervals "
        "of tau-b begin at P@10 0.910 (shrunken 0.930). The bound is 0.90. Systems: 12; common "
        "queries: 46."
    )
    assert [tau.is_usable for tau in summary.judges[0].taus] == [True, False]


def test_what_people_show_is_said_as_that():
    summary = summarise(
        tables_of([judge("m")], [ruling("m", USABLE, shown_by="people", low=0.8)]), "en"
    )
    assert (
        "nDCG@10 0.800 (shrunken 0.930) (minus people −0.040; −0.045; all of that has to lie above "
        "−0.05)" in summary.lines[1]
    )
    assert summary.lines[0].endswith("that they keep the reference's ranking is not shown.")
    assert summary.judges[0].lines[0] == (
        "By nDCG@10 its ranking of systems is shown to be hardly worse than a person's, at most "
        "0.05 of tau-b; that it keeps the reference's ranking is not shown."
    )


def test_what_the_bound_shows_and_what_people_show_are_told_apart():
    rulings = [ruling("m", USABLE), ruling("m", USABLE, measure="MRR", shown_by="people", low=0.8)]
    summary = summarise(tables_of([judge("m")], rulings), "en")
    assert summary.lines[0].startswith("Ranking systems: 1 of 1 judges are shown to keep")
    assert summary.judges[0].lines[0].startswith("By nDCG@10 its ranking of systems can be taken")
    assert summary.judges[0].lines[1].startswith("By MRR its ranking of systems is shown to be")


def test_people_who_could_not_be_tested_count_in_the_alternative_annotator_test():
    # It wins beside the one person with enough pairs, of four.
    tables = tables_of([judge("m")], [ruling("m", NOT_SHOWN)], [rate("m", 1.0, n=1)], n_people=4)
    summary = summarise(tables, "en")
    assert summary.trust == "none"
    said = " ".join(summary.judges[0].lines).replace("\u00a0", " ")
    assert "it wins beside 100.0 % of the 1 people who could be tested, of 4" in said


def test_nothing_shown_is_no_judge_to_trust():
    tables = tables_of(
        [judge("m", kappa=0.02, assessors=0.01)], [ruling("m", NOT_SHOWN)], [rate("m", 0.0)]
    )
    summary = summarise(tables, "en")
    assert summary.trust == summary.judges[0].trust == "none"
    assert summary.headline == "No judge to trust."
    assert [line.replace("\u00a0", " ") for line in summary.lines] == [
        "Ranking systems: no judge is shown to keep the ranking, by any measure.",
        "Closest to the reference, pair by pair: m, kappa 0.020 (−0.080 to 0.120, 95 %); "
        "1,000 pairs cost: unknown.",
        "Grading pair by pair: no judge passes the alternative annotator test.",
        "People among themselves: kappa 0.550 to 0.730.",
    ]
    assert (
        "It agrees with people less (0.010) than the two people who agree least (0.550)."
        in summary.judges[0].lines
    )


def test_too_few_systems_are_no_ground_for_trust():
    summary = summarise(tables_of([judge("m", kappa=0.99)], [ruling("m", FEW)]), "pt")
    assert summary.trust == "none"
    assert summary.headline == "Nenhum juiz em que confiar."
    assert summary.lines[0] == (
        "Ordenar sistemas: 3 sistemas são poucos para dizer; são precisos pelo menos 10."
    )


@pytest.mark.parametrize(("value", "trust"), [(0.5, "grades"), (0.49, "none"), (None, "none")])
def test_grades_alone_take_the_alternative_annotator_test(value, trust):
    tables = tables_of([judge("m")], [ruling("m", NOT_SHOWN)], [rate("m", value)])
    summary = summarise(tables, "en")
    assert summary.trust == trust
    if trust == "grades":
        assert summary.headline == "No judge to trust with the ranking of systems."
        assert summary.lines[2].endswith("(alternative annotator test, epsilon 0.20): m.")


def test_without_systems_and_tests_it_was_not_tested():
    summary = summarise(tables_of([judge("m")]), "en")
    assert summary.trust == "untested"
    assert summary.headline == "Whether a judge can be trusted was not tested."


def test_without_judges_the_people_remain():
    summary = summarise(tables_of([]), "en")
    assert summary.headline == "There is no judge yet."
    assert summary.lines[-1] == "People among themselves: kappa 0.550 to 0.730."
    assert summarise({}, "en").lines[-1].startswith("No two people can be compared")


def test_the_best_come_first_the_cheaper_of_equals_before():
    names = ["none", "dear", "cheap", "two", "grades"]
    rulings = [
        ruling("none", NOT_SHOWN),
        ruling("dear", USABLE, cost=2.0),
        ruling("cheap", USABLE, cost=1.0),
        ruling("two", USABLE, cost=9.0),
        ruling("two", USABLE, measure="MRR", cost=9.0),
        ruling("grades", NOT_SHOWN),
    ]
    tables = tables_of([judge(name) for name in names], rulings, [rate("grades", 1.0)])
    summary = summarise(tables, "en")
    assert [view.name for view in summary.judges] == ["two", "cheap", "dear", "grades", "none"]
    assert summary.headline == "Usable to rank systems: two, cheap, dear."


def test_of_judges_that_are_not_shown_the_one_that_agrees_most_comes_first():
    judges = [judge("free", kappa=0.1), judge("dear", kappa=0.6), judge("mute", kappa=pd.NA)]
    costs = {"free": 0.0, "dear": 9.0, "mute": 1.0}
    rulings = [ruling(name, NOT_SHOWN, cost=cost) for name, cost in costs.items()]
    summary = summarise(tables_of(judges, rulings), "en")
    assert [view.name for view in summary.judges] == ["dear", "free", "mute"]
    assert summary.lines[1].startswith("Closest to the reference, pair by pair: dear, kappa 0.600")


def test_low_coverage_is_a_warning():
    tables = tables_of([judge("m", coverage=0.43)], [ruling("m", NOT_SHOWN)])
    said = " ".join(summarise(tables, "en").judges[0].lines).replace("\u00a0", " ")
    assert "It graded only 43.0 % of the pairs that it was asked for (43 of 100)" in said


def test_a_cost_that_only_the_cost_table_knows():
    tables = tables_of([judge("m")])
    tables["cost"] = pd.DataFrame({"judge": ["m"], "cost_per_1000_pairs": [1.5]})
    assert summarise(tables, "en").judges[0].lines[-1] == (
        "Cost of 1,000 pairs: 1.50 (in the currency of its prices)."
    )


def printed(tables, **options):
    stream = io.StringIO()
    print_verdict(Console(file=stream, width=160), **tables, **options)
    return stream.getvalue()


def test_the_terminal_has_the_same_first_lines():
    tables = tables_of([judge("[m]")], [ruling("[m]", USABLE)], [rate("[m]", 0.75)])
    said = " ".join(printed(tables).split())
    summary = summarise(tables, "en")
    for line in (summary.headline, *summary.lines):
        assert " ".join(line.split()) in said
    assert "0.910 to 0.990" in said


def test_the_terminal_without_systems():
    few = ("judge_summary", "human_kappa")
    tables = {name: table for name, table in tables_of([judge("m")]).items() if name in few}
    assert printed(tables, language="pt").startswith("Não foi testado se se pode confiar")
