"""`llm_judging`: one template for each kind of judge, instantiated under the judge's namespace."""

from collections.abc import Callable, Sequence
from functools import partial, update_wrapper
from typing import Any

from kedro.pipeline import Node, Pipeline

from normastcu.judging.settings import Judge
from normastcu.pipelines.llm_judging import nodes
from normastcu.pipelines.shared import copy_table, join_tables

NAMESPACE = "llm_judging"
SHARED = {
    "judging_pairs",
    "queries",
    "documents@pandas",
    "prompts",
    "reply_store",
    "recorded_import",
    "credentials",
}
PARAMETERS = {"scale", "judging"}
SPENDING = "asks"
"""The tag of nodes whose calls cost money."""


def create_pipeline(judges: Sequence[Judge]) -> Pipeline:
    """Return the pipeline for the active judges.

    Each judge has the namespace ``llm_judging.<slug>`` with its own plan, table and cost; what
    they share (pairs, texts, prompts, the reply store) lies outside.
    """
    recorded = any(judge.kind == "recorded" for judge in judges)
    shared = _choice() + (_recorded() if recorded else Pipeline([]))
    return sum((_judge_pipeline(judge) for judge in judges), shared) + _summary(judges)


def _choice() -> Pipeline:
    return Pipeline(
        [
            Node(
                nodes.choose_pairs,
                ["mean_grades", "raw_pairs", "params:judging"],
                "judging_pairs",
                name="choose_pairs",
                tags="plan",
            ),
        ],
        namespace=NAMESPACE,
        prefix_datasets_with_namespace=False,
    )


def _recorded() -> Pipeline:
    return Pipeline(
        [
            Node(
                nodes.bring_in_recorded,
                ["raw_recorded_replies", "reply_store"],
                "recorded_import",
                name="bring_in_recorded",
                tags="plan",
            ),
        ],
        namespace=NAMESPACE,
        prefix_datasets_with_namespace=False,
    )


def _judge_pipeline(judge: Judge) -> Pipeline:
    template = _lexical(judge) if judge.kind == "lexical" else _asked(judge)
    shared = {name for name in template.inputs() if name in SHARED}
    return Pipeline(
        template,
        namespace=f"{NAMESPACE}.{judge.slug}",
        inputs=shared,
        parameters={f"params:{name}" for name in PARAMETERS} & template.inputs(),
        tags=judge.kind,
    )


def _asked(judge: Judge) -> Pipeline:
    """Return the template of a judge whose replies are asked for, or were recorded."""
    recorded = judge.kind == "recorded"
    asking = (
        Node(_of(nodes.look_up, judge), "plan", "report", name="look_up")
        if recorded
        else Node(
            _of(nodes.ask, judge),
            ["plan", "prompts", "reply_store", "credentials", "params:scale", "params:judging"],
            "report",
            name="judge",
            tags=SPENDING,
        )
    )
    return Pipeline(
        [
            Node(
                _of(nodes.plan, judge),
                [
                    "judging_pairs",
                    "queries",
                    "documents@pandas",
                    "prompts",
                    "reply_store",
                    "params:scale",
                    "params:judging",
                    *(["recorded_import"] if recorded else []),
                ],
                ["plan", "estimate"],
                name="plan",
                tags="plan",
            ),
            asking,
            Node(
                _of(nodes.collect, judge),
                ["plan", "report", "prompts", "reply_store", "params:scale"],
                ["judgments", "cost"],
                name="collect",
            ),
        ]
    )


def _lexical(judge: Judge) -> Pipeline:
    """Return the template of the lexical baseline."""
    return Pipeline(
        [
            Node(
                _of(nodes.grade_lexically, judge),
                ["judging_pairs", "queries", "documents@pandas", "params:scale"],
                ["judgments", "cost", "report"],
                name="judge",
            ),
        ]
    )


def _summary(judges: Sequence[Judge]) -> Pipeline:
    def of_all(dataset: str, chosen: Sequence[Judge]) -> list[str]:
        return [f"{NAMESPACE}.{judge.slug}.{dataset}" for judge in chosen]

    asked = [judge for judge in judges if judge.kind != "lexical"]
    joined = [("judgments", "llm_judgments"), ("cost", "cost"), ("report", "judging_reports")]
    steps = [
        Node(join_tables, of_all(part, judges), whole, name=f"join_{part}")
        for part, whole in joined
    ]
    if asked:
        steps.append(
            Node(
                join_tables,
                of_all("estimate", asked),
                "judging_plan",
                name="join_estimates",
                tags="plan",
            )
        )
    return Pipeline(
        [
            *steps,
            Node(
                update_wrapper(partial(nodes.list_judges, judges=judges), nodes.list_judges),
                "prompts",
                "asked_judges",
                name="list_judges",
            ),
            Node(
                nodes.summarise,
                ["llm_judgments", "judging_reports", "params:active_judges"],
                ["judging_outcomes", "judging_summary"],
                name="summarise",
            ),
            Node(nodes.build_qrels, "llm_judgments", "judge_qrels", name="build_qrels"),
            Node(copy_table, "judge_qrels", "judge_qrels_trec", name="write_trec_qrels"),
            Node(
                nodes.show_replies,
                [
                    "llm_judgments",
                    "mean_grades",
                    "queries",
                    "documents@pandas",
                    "params:collection",
                    "params:scale",
                ],
                ["replies_en", "replies_pt"],
                name="show_replies",
            ),
        ],
        namespace=NAMESPACE,
        prefix_datasets_with_namespace=False,
    )


def _of(function: Callable[..., Any], judge: Judge) -> Callable[..., Any]:
    """Return a node's function for one judge, under its own name."""
    return update_wrapper(partial(function, judge=judge), function)
