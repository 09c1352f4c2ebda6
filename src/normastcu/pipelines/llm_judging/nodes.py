"""Nodes of `llm_judging`: plan, ask and collect for each judge, then all judges together."""

import hashlib
import logging
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import pandas as pd

from normastcu.collection.frames import typed_frame
from normastcu.collection.pairs import read_pairs
from normastcu.collection.settings import GradeScale
from normastcu.collection.sources import RawFile
from normastcu.evaluation.disagreement import PAIR
from normastcu.judging.batch import run_batches
from normastcu.judging.batch_ledger import BatchLedger
from normastcu.judging.client import open_client
from normastcu.judging.collect import NOT_ASKED, TABLE_TYPES, count_outcomes, judge_table
from normastcu.judging.cost import cost_per_1000_pairs, usage
from normastcu.judging.errors import JudgingError
from normastcu.judging.garbage import no_garbage_collection
from normastcu.judging.lexical import lexical_grades
from normastcu.judging.openai_batch import open_batches
from normastcu.judging.plan import Plan, plan_judge, shorten_request
from normastcu.judging.prompts import Prompt, reply_schema
from normastcu.judging.runner import JudgeRun, run_judge
from normastcu.judging.settings import Judge, ModelSettings
from normastcu.judging.store import ReplyStore
from normastcu.judging.store_files import jsonl_attempts
from normastcu.pipelines.llm_judging.parameters import JudgingSettings
from normastcu.reporting.replies_page import replies_page

logger = logging.getLogger(__name__)

TRIAL_SEED = 0
ESTIMATE_TYPES = {
    "judge": "str",
    "pairs": "Int64",
    "calls": "Int64",
    "tokens_in": "Int64",
    "tokens_out": "Int64",
    "cost": "Float64",
    "seconds": "Float64",
}
REPORT_TYPES = {
    "judge": "str",
    "least_coverage": "Float64",
    "stopped": "str",
    "n_known": "Int64",
    "n_calls": "Int64",
}
COST_TYPES = {
    "judge": "str",
    "calls": "Int64",
    "tokens_in": "Int64",
    "tokens_out": "Int64",
    "cost": "Float64",
    "cost_per_1000_pairs": "Float64",
}


def choose_pairs(
    means: pd.DataFrame, files: list[RawFile], settings: JudgingSettings
) -> pd.DataFrame:
    """Return the pairs to be judged: those of a file where one is given, else the people's.

    A trial takes some of them at random, always the same ones.
    """
    pairs = means[PAIR]
    if files:
        pairs = pd.concat([read_pairs(file) for file in files], ignore_index=True)
    pairs = pairs.drop_duplicates(ignore_index=True)
    if pairs.empty:
        raise JudgingError(
            "There is no pair to judge: nobody has judged one yet. Run human_qrels first, or give "
            "pairs, such as the pool (--params pairs=<csv>)."
        )
    if settings.trial is None or settings.trial >= len(pairs):
        return pairs
    return pairs.sample(settings.trial, random_state=TRIAL_SEED).sort_index(ignore_index=True)


def bring_in_recorded(files: list[RawFile], store: ReplyStore) -> pd.DataFrame:
    """Put the replies that come with the collection into the store; return how many are new.

    What the store holds stays, also where it was recorded again since.
    """
    rows = []
    with store:
        for file in files:
            read = list(jsonl_attempts(file.path))
            known = store.last_by_key(one.key for one in read)
            added = store.merge(one for one in read if one.key not in known).added
            rows.append((file.name, added, len(read) - added))
    return typed_frame(rows, {"file": "str", "n_added": "Int64", "n_known": "Int64"})


@no_garbage_collection()
def plan(
    pairs: pd.DataFrame,
    queries: pd.DataFrame,
    documents: pd.DataFrame,
    prompts: Mapping[str, Prompt],
    store: ReplyStore,
    scale: GradeScale,
    settings: JudgingSettings,
    _recorded: pd.DataFrame | None = None,
    *,
    judge: Judge,
) -> tuple[Plan, pd.DataFrame]:
    """Return what a judge is asked and what of it is left, and what that may take at most.

    The replies that come with the collection (`_recorded`) are in the store by then.
    """
    with store:
        made = plan_judge(
            pairs,
            queries,
            documents,
            judge,
            prompt_of(judge, prompts),
            scale,
            store.last_by_key,
            frozenset(settings.again),
            ledger_of(judge, store).waiting(),
        )
    estimate = made.estimate
    row = (
        judge.name,
        estimate.pairs,
        estimate.calls,
        estimate.tokens_in,
        estimate.tokens_out,
        estimate.cost,
        estimate.seconds,
    )
    return made, typed_frame([row], ESTIMATE_TYPES)


def ask(
    plan: Plan,
    prompts: Mapping[str, Prompt],
    store: ReplyStore,
    credentials: Mapping[str, object],
    scale: GradeScale,
    settings: JudgingSettings,
    *,
    judge: Judge,
) -> pd.DataFrame:
    """Ask a judge for everything that is left, and return how that ended; it stores as it goes."""
    model, prompt = model_of(judge), prompt_of(judge, prompts)
    schema = reply_schema(prompt, scale)
    n_batches = len(ledger_of(judge, store).open_batches())
    if n_batches and not model.batch:
        stopped = (
            f"{n_batches} batches that were handed in have not been collected, and would be asked "
            f"and paid again: set `batch: true` for the model {model.name!r} in judges.yml until "
            "they are."
        )
        logger.error("The judge %r has not been asked. %s", judge.name, stopped)
        return report(judge, stopped, len(plan.done), 0)
    with store:
        run = asker(judge, credentials, store, schema)(
            plan.requests,
            store=store,
            model=model,
            judge=judge.name,
            prompt=prompt,
            scale=scale,
            total=len(plan.requests),
            shorten=partial(shorten_request, policy=model.cut_policy),
            again=frozenset(settings.again),
        )
    return report(judge, run.stopped, len(plan.done), run.tally.calls)


def asker(
    judge: Judge,
    credentials: Mapping[str, object],
    store: ReplyStore,
    schema: Mapping[str, object],
) -> Callable[..., JudgeRun]:
    """Return what asks a judge: call by call, or by the provider's batches."""
    model = model_of(judge)
    if not model.batch:
        return partial(
            run_judge, open_client=partial(open_client, model, credentials, schema=schema)
        )
    return partial(
        run_batches,
        open_service=partial(open_batches, model, credentials, schema=schema),
        ledger=ledger_of(judge, store),
    )


def ledger_of(judge: Judge, store: ReplyStore) -> BatchLedger:
    """Return what was handed in by batches: a file for each judge, beside the replies."""
    path = store.path.with_name(f"batches_{judge.slug}.jsonl")
    return BatchLedger(path, model_of(judge).base_url or "")


def look_up(plan: Plan, *, judge: Judge) -> pd.DataFrame:
    """Return how many replies of a recorded judge there are; nothing is asked."""
    missing = len(plan.requests)
    stopped = (
        f"{missing} of {len(plan.planned)} recorded replies are missing, because a prompt, a "
        "document or a setting has changed since they were recorded: make record."
        if missing
        else None
    )
    if stopped:
        logger.warning("%s: %s", judge.name, stopped)
    return report(judge, stopped, len(plan.done), 0)


@no_garbage_collection()
def collect(
    plan: Plan,
    _asked: pd.DataFrame,
    prompts: Mapping[str, Prompt],
    store: ReplyStore,
    scale: GradeScale,
    *,
    judge: Judge,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return a judge's table for the present pairs, and what it took; it was `_asked` before.

    Calls, tokens and cost are those made under the judge's own name; the cost of 1,000 pairs
    counts every reply that it stands on.
    """
    keys = list({request.key: None for request in plan.planned})
    with store:
        attempts = list(store.attempts_by_key(keys))
    last = {one.key: one for one in attempts}
    table = judge_table(plan, judge.name, prompt_of(judge, prompts), scale.values, last)
    model = model_of(judge)
    used = usage((one for one in attempts if one.judge == judge.name), model)
    per_1000 = cost_per_1000_pairs(attempts, model, int((table["outcome"] != NOT_ASKED).sum()))
    row = (judge.name, used.calls, used.tokens_in, used.tokens_out, used.cost, per_1000)
    return table, typed_frame([row], COST_TYPES)


def grade_lexically(
    pairs: pd.DataFrame,
    queries: pd.DataFrame,
    documents: pd.DataFrame,
    scale: GradeScale,
    *,
    judge: Judge,
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Return table, cost and report of the lexical baseline."""
    graded = lexical_grades(pairs, queries, documents, judge.lexical, scale)
    rows = graded.assign(
        annotator=judge.name,
        outcome=graded["grade"].map(lambda grade: "unparseable" if pd.isna(grade) else "ok"),
        n_samples=1,
        n_graded=graded["grade"].notna().astype("Int64"),
    )
    table = rows.reindex(columns=list(TABLE_TYPES)).astype(TABLE_TYPES)
    cost = typed_frame([(judge.name, 0, 0, 0, 0.0, 0.0)], COST_TYPES)
    return table, cost, report(judge, None, len(table), 0)


def summarise(
    judgments: pd.DataFrame, reports: pd.DataFrame, active: Sequence[Any]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the outcomes by judge, and the reports with coverage and self-agreement."""
    if not active:
        raise JudgingError("No judge is active: name some in the parameter `active_judges`.")
    outcomes, rows = [], []
    for record in reports.to_dict("records"):
        table = judgments[judgments["annotator"] == record["judge"]]
        outcomes.append(count_outcomes(table, record["judge"]))
        rows.append(
            {
                **record,
                "n": len(table),
                "n_ok": int(table["grade"].notna().sum()),
                "coverage": float(table["grade"].notna().mean()) if len(table) else None,
                "self_agreement": table["self_agreement"].mean(),
            }
        )
    types = REPORT_TYPES | {
        "n": "Int64",
        "n_ok": "Int64",
        "coverage": "Float64",
        "self_agreement": "Float64",
    }
    return pd.concat(outcomes, ignore_index=True), typed_frame(rows, types)


def list_judges(prompts: Mapping[str, Prompt], *, judges: Sequence[Judge]) -> pd.DataFrame:
    """Return model, prompt, source and a hash of all settings of each judge."""
    rows = []
    for judge in judges:
        sha256 = prompt_of(judge, prompts).sha256 if judge.prompt else ""
        settings = f"{judge.model_dump_json()}\n{sha256}"
        rows.append(
            (
                judge.name,
                judge.model.model if judge.model else judge.kind,
                judge.prompt.name if judge.prompt else None,
                judge.kind,
                hashlib.sha256(settings.encode()).hexdigest(),
            )
        )
    columns = ("judge", "model", "prompt", "source", "settings_hash")
    return typed_frame(rows, dict.fromkeys(columns, "str"))


def build_qrels(judgments: pd.DataFrame) -> pd.DataFrame:
    """Return each judge's grades as qrels; a pair without a grade is not in them."""
    graded = judgments.dropna(subset=["grade"]).rename(columns={"annotator": "qrels"})
    return graded[["qrels", *PAIR, "grade"]].reset_index(drop=True)


def show_replies(
    judgments: pd.DataFrame,
    means: pd.DataFrame,
    queries: pd.DataFrame,
    documents: pd.DataFrame,
    collection: str,
    scale: GradeScale,
) -> tuple[str, str]:
    """Return the page on which people read what the judges answered, in English and Portuguese."""
    people = means[[*PAIR, "mean_grade", "grades"]].rename(columns={"mean_grade": "reference"})
    table = (
        judgments.rename(columns={"annotator": "judge"})
        .merge(queries.rename(columns={"text": "query"}), on="query_id", how="left")
        .merge(documents[["doc_id", "title"]], on="doc_id", how="left")
        .merge(people, on=PAIR, how="left")
    )
    return (
        replies_page(table, collection, scale, "en"),
        replies_page(table, collection, scale, "pt"),
    )


def report(judge: Judge, stopped: str | None, n_known: int, n_calls: int) -> pd.DataFrame:
    """Return how the run of a judge ended, as one row."""
    row = (judge.name, judge.least_coverage, stopped, n_known, n_calls)
    return typed_frame([row], REPORT_TYPES)


def model_of(judge: Judge) -> ModelSettings:
    """Return the model of a judge that is asked."""
    if judge.model is None:
        raise JudgingError(f"The judge {judge.name!r} has no model and can't be asked.")
    return judge.model


def prompt_of(judge: Judge, prompts: Mapping[str, Prompt]) -> Prompt:
    """Return the prompt of a judge that is asked."""
    if judge.prompt is None:
        raise JudgingError(f"The judge {judge.name!r} has no prompt and can't be asked.")
    if judge.prompt.file not in prompts:
        raise JudgingError(
            f"The prompt {judge.prompt.name!r} is in no file {judge.prompt.file!r}. Files in the "
            f"folder of prompts: {', '.join(prompts) or 'none'}."
        )
    return prompts[judge.prompt.file]
