"""`llm_judging` as a whole, against loopback servers that speak the OpenAI protocol."""

import csv
import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import threading
import traceback
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
import yaml
from click.testing import CliRunner
from kedro.framework.startup import bootstrap_project
from tests.judging.loopback_batches import BatchDesk
from tests.judging.loopback_llm import Answer, LoopbackLlm, failure
from tests.judging.tiny_model import write_tiny_model

from normastcu.cli import cli
from normastcu.hooks import IncompleteJudgingError

KEY = "test-key-that-nobody-may-see"
PAIRS = 15
# A shell that starts the tests in the background has its children ignore Ctrl-C.
INTERRUPTIBLE = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from kedro.framework.cli import main
sys.argv[1:1] = ["run", "--env", "test", "--pipelines", "llm_judging"]
main()
"""


def configure(project: Path, servers: dict[str, LoopbackLlm], **model) -> None:
    """Let the environment `test` ask a model of each name behind its server, under one prompt."""
    folder = project / "conf" / "test"
    entry = {"kind": "openai", "context_window": 8192, "attempts": 1, "concurrency": 2}
    entry |= {"credentials": "TEST_KEY", "price_in": 1.0, "price_out": 2.0} | model
    models = {
        name: entry | {"model": f"{name}-1", "base_url": server.base_url}
        for name, server in servers.items()
    }
    (folder / "judges.yml").write_text(yaml.safe_dump({"models": models}))
    active = [{"models": list(servers), "prompts": ["rationale"]}]
    settings = {"active_judges": active}
    (folder / "parameters_llm_judging.yml").write_text(yaml.safe_dump(settings))


@pytest.fixture
def pairs(project, world, monkeypatch) -> str:
    """Write all pairs of the fabricated world; set the key."""
    monkeypatch.setenv("TEST_KEY", KEY)
    path = world / "pairs.csv"
    documents = ("00123", "1e5", "LEI", "lei", "x")
    rows = [(query, document) for query in ("1", "01", "q") for document in documents]
    with path.open("w", newline="") as stream:
        csv.writer(stream).writerows([("query_id", "doc_id"), *rows])
    assert len(rows) == PAIRS
    return str(path)


def graded(call) -> Answer:
    """Answer with a grade that follows from the document, and a reason in Portuguese."""
    grade = len(call.user) % 4
    return Answer(json.dumps({"justificativa": f"trata do art. {grade}º", "score": grade}))


def judgments(project: Path) -> pd.DataFrame:
    """Read the table of all judges."""
    return pd.read_parquet(project / "data/07_model_output/test/llm_judgments.parquet")


def cost_of(project: Path) -> pd.Series:
    """Read what the one judge took."""
    return pd.read_parquet(project / "data/08_reporting/test/tables/cost.parquet").iloc[0]


def prepare(kedro_run) -> None:
    """Run what judging needs."""
    kedro_run("ingestion", "human_qrels", env="test")


def test_every_pair_is_graded_and_a_second_run_asks_nothing(kedro_run, project, pairs):
    with LoopbackLlm(graded) as server:
        configure(project, {"good.model": server})
        prepare(kedro_run)
        kedro_run("llm_judging", env="test", params={"pairs": pairs})
        first = judgments(project)
        assert server.counts.calls == PAIRS
        kedro_run("llm_judging", env="test", params={"pairs": pairs})
        assert server.counts.calls == PAIRS
    assert first["outcome"].eq("ok").all()
    assert first["annotator"].unique().tolist() == ["good.model_rationale"]
    assert first["rationale"].str.startswith("trata do art. ").all()
    pd.testing.assert_frame_equal(judgments(project), first)
    cost = cost_of(project)
    assert cost["calls"] == PAIRS
    expected = (cost["tokens_in"] * 1.0 + cost["tokens_out"] * 2.0) / 1e6
    assert cost["cost"] == pytest.approx(expected)
    assert cost["cost_per_1000_pairs"] == pytest.approx(1000 * expected / PAIRS)
    qrels = project / "data/07_model_output/test/judge_qrels/good.model_rationale.qrels"
    assert len(qrels.read_text().splitlines()) == PAIRS
    assert "trata do art." in (project / "data/08_reporting/test/replies_en.html").read_text()


def test_a_judge_costs_what_its_replies_cost_also_under_a_new_name(kedro_run, project, pairs):
    judges = project / "conf" / "test" / "judges.yml"
    with LoopbackLlm(graded) as server:
        configure(project, {"good": server})
        prepare(kedro_run)
        kedro_run("llm_judging", env="test", params={"pairs": pairs})
        first = cost_of(project)
        configure(project, {"renamed": server})
        judges.write_text(judges.read_text().replace("renamed-1", "good-1"))
        kedro_run("llm_judging", env="test", params={"pairs": pairs})
        assert server.counts.calls == PAIRS
    renamed = cost_of(project)
    assert renamed[["judge", "calls", "cost"]].tolist() == ["renamed_rationale", 0, 0.0]
    assert renamed["cost_per_1000_pairs"] == first["cost_per_1000_pairs"] > 0


def test_a_changed_prompt_document_or_address_asks_for_exactly_what_changed(
    kedro_run, project, world, pairs
):
    prompts = project / "conf" / "base" / "prompts"
    with LoopbackLlm(graded) as server, LoopbackLlm(graded) as other:
        configure(project, {"good": server})
        prepare(kedro_run)
        kedro_run("llm_judging", env="test", params={"pairs": pairs})
        docs = world / "docs.csv"
        docs.write_text(docs.read_text().replace("<p>b</p>", "<p>B</p>"))
        prepare(kedro_run)
        kedro_run("llm_judging", env="test", params={"pairs": pairs})
        assert server.counts.calls == PAIRS + 3, "one document, three queries"
        path = prompts / "rationale.pt.md"
        path.write_text(path.read_text().replace("Leia a consulta", "Leia  a consulta"))
        kedro_run("llm_judging", env="test", params={"pairs": pairs})
        assert server.counts.calls == 2 * PAIRS + 3, "all pairs"
        configure(project, {"good": other})
        kedro_run("llm_judging", env="test", params={"pairs": pairs})
        assert other.counts.calls == PAIRS, "the same model elsewhere is another model"


def test_a_broken_judge_stops_no_other_and_one_command_completes_the_rest(
    kedro_run, project, pairs
):
    mended = False

    def breaks(call) -> Answer:
        return graded(call) if mended or call.number < PAIRS // 2 else failure(500)

    with LoopbackLlm(graded) as good, LoopbackLlm(breaks) as weak:
        configure(project, {"weak": weak, "good": good})
        prepare(kedro_run)
        with pytest.raises(IncompleteJudgingError) as error:
            kedro_run("llm_judging", env="test", params={"pairs": pairs})
        sentence = str(error.value)
        assert f"weak_rationale: {PAIRS // 2} of {PAIRS} pairs have a grade" in sentence
        assert f"- weak_rationale: {PAIRS - PAIRS // 2} error, {PAIRS // 2} ok" in sentence
        assert f"- good_rationale: {PAIRS} ok" in sentence
        assert f"kedro run --pipelines llm_judging --env test --params pairs={pairs}" in sentence
        table = judgments(project)
        assert table.groupby("annotator")["grade"].count().to_dict() == {
            "good_rationale": PAIRS,
            "weak_rationale": PAIRS // 2,
        }
        mended = True
        kedro_run("llm_judging", env="test", params={"pairs": pairs})
        assert judgments(project)["outcome"].eq("ok").all()
        assert good.counts.calls == PAIRS


def test_models_in_process_that_fail_or_reply_anything_stop_no_other(
    kedro_run, project, pairs, tmp_path
):
    judges = project / "conf" / "test" / "judges.yml"
    folder = write_tiny_model(tmp_path / "tiny", window=8192)
    own = {"kind": "huggingface", "model": str(folder), "context_window": 8192}
    own |= {"max_reply_tokens": 8, "reply_token_cap": 8, "attempts": 1, "concurrency": 1}
    with LoopbackLlm(graded) as server:
        configure(project, {"refusing": server, "random": server, "good": server})
        library = yaml.safe_load(judges.read_text())["models"]
        library |= {"refusing": own | {"parameters": {"reasoning": "high"}}, "random": own}
        judges.write_text(yaml.safe_dump({"models": library}))
        prepare(kedro_run)
        with pytest.raises(IncompleteJudgingError) as error:
            kedro_run("llm_judging", env="test", params={"pairs": pairs})
        assert server.counts.calls == PAIRS
    sentence = str(error.value)
    assert "The model in this process (ValueError) rejects the call: check `param" in sentence
    outcomes = judgments(project).groupby("annotator")["outcome"].value_counts().to_dict()
    assert outcomes == {
        ("refusing_rationale", "error"): 1,
        ("refusing_rationale", "not asked"): PAIRS - 1,
        ("random_rationale", "truncated"): PAIRS,
        ("good_rationale", "ok"): PAIRS,
    }


def test_ctrl_c_ends_the_run_with_the_way_on_and_the_same_command_asks_the_rest(
    kedro_run, project, pairs
):
    answered, all_wait = 5, threading.Event()

    def some(call) -> Answer:
        if call.number == answered + 1:  # the second of two threads
            all_wait.set()
        return replace(graded(call), latency=60.0 if call.number >= answered else 0.0)

    with LoopbackLlm(some) as server:
        configure(project, {"good": server})
        prepare(kedro_run)
        with subprocess.Popen(
            [sys.executable, "-c", INTERRUPTIBLE, "--params", f"pairs={pairs}"],
            cwd=project,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        ) as process:
            assert all_wait.wait(120), "the run has not come to its calls"
            process.send_signal(signal.SIGINT)
            said, _ = process.communicate(timeout=30)
        assert process.returncode not in (0, -signal.SIGINT)
        assert "the same command goes on where it stopped" in " ".join(said.split())
        assert "Traceback" not in said
        server.follow(graded)
        kedro_run("llm_judging", env="test", params={"pairs": pairs})
        assert server.counts.calls == PAIRS - answered
    assert judgments(project)["outcome"].eq("ok").all()


def test_one_judge_alone_by_its_namespace(kedro_run, project, pairs, capsys):
    with LoopbackLlm(graded) as one, LoopbackLlm(graded) as two:
        configure(project, {"one": one, "two": two})
        prepare(kedro_run)
        kedro_run("llm_judging", env="test", params={"pairs": pairs})
        told = capsys.readouterr().out
        kedro_run("llm_judging", env="test", namespaces=["llm_judging.two_rationale"])
        assert (one.counts.calls, two.counts.calls) == (PAIRS, PAIRS)
    rows = [line.split() for line in told.splitlines()]
    for judge in ("one_rationale", "two_rationale"):
        assert [judge, "15", "15", "100.0%", "15"] in rows
    alone = capsys.readouterr().out
    assert "two_rationale" in alone
    assert "one_rationale" not in alone


def test_one_judge_alone_that_is_refused_ends_the_run_with_the_command_for_it(
    kedro_run, project, pairs
):
    with LoopbackLlm(graded) as one, LoopbackLlm(graded) as two:
        configure(project, {"one": one, "two": two})
        prepare(kedro_run)
        kedro_run("llm_judging", env="test", params={"pairs": pairs})
        (project / "data/01_raw/test/replies.sqlite").unlink()
        two.follow(lambda call: graded(call) if call.number < 6 else failure(401))
        namespaces = ["llm_judging.two_rationale"]
        with pytest.raises(IncompleteJudgingError) as error:
            kedro_run("llm_judging", env="test", namespaces=namespaces)
        sentence = str(error.value)
        assert f"- two_rationale: 6 of {PAIRS} pairs have a grade (40.0%;" in sentence
        assert "credentials entry 'TEST_KEY'" in sentence
        assert "one_rationale" not in sentence
        command = "kedro run --pipelines llm_judging --namespaces llm_judging.two_rationale"
        assert sentence.endswith(f"{command} --env test")
        two.follow(graded)
        kedro_run("llm_judging", env="test", namespaces=namespaces)
        assert two.counts.calls == PAIRS - 6


def test_a_run_above_the_budget_is_refused_before_the_first_call(kedro_run, project, pairs):
    """Two judges that fit the budget one by one, but not together."""
    with LoopbackLlm(graded) as server:
        configure(project, {"one": server, "two": server})
        prepare(kedro_run)
        CliRunner().invoke(cli, ["estimate", "--env", "test"])
        plan = pd.read_parquet(project / "data/08_reporting/test/tables/judging_plan.parquet")
        judging = {"budget": 1.5 * PAIRS / 5 * float(plan["cost"].max())}
        with pytest.raises(
            Exception, match=r"one_rationale: .*, two_rationale: .* up to .*Nothing"
        ):
            kedro_run("llm_judging", env="test", params={"pairs": pairs, "judging": judging})
        configure(project, {"one": server, "two": server}, price_out=None)
        with pytest.raises(Exception, match="may cost an unknown amount"):
            kedro_run("llm_judging", env="test", params={"pairs": pairs, "judging": judging})
        assert server.counts.calls == 0
        configure(project, {"one": server})
        kedro_run("llm_judging", env="test", params={"pairs": pairs, "judging": judging})
        assert server.counts.calls == PAIRS


def test_the_plan_alone(kedro_run, project, pairs):
    with LoopbackLlm(graded) as server:
        configure(project, {"good": server}, requests_per_minute=15)
        prepare(kedro_run)
        bootstrap_project(project)
        result = CliRunner().invoke(cli, ["estimate", "--env", "test"])
        assert result.exit_code == 0, result.output
        assert server.counts.calls == 0
    assert re.search(r"good_rationale +5 +5 .* 0\.3 min", result.output)
    assert re.search(r"all judges +5 +5 ", result.output)
    plan = pd.read_parquet(project / "data/08_reporting/test/tables/judging_plan.parquet").iloc[0]
    # The five pairs that people judged, at fifteen a minute.
    assert (plan["pairs"], plan["calls"], plan["seconds"]) == (5, 5, 20)
    assert plan["tokens_out"] == 5 * 1024
    assert plan["cost"] == pytest.approx((plan["tokens_in"] + 2 * plan["tokens_out"]) / 1e6)


def test_the_plan_where_no_judge_is_asked(kedro_run, project, world):
    parameters = project / "conf" / "test" / "parameters_llm_judging.yml"
    parameters.write_text(yaml.safe_dump({"active_judges": ["lexical"]}))
    prepare(kedro_run)
    bootstrap_project(project)
    result = CliRunner().invoke(cli, ["estimate", "--env", "test"])
    assert result.exit_code == 0, result.output
    assert "There is nothing to ask" in result.output
    assert "calls left" not in result.output


@pytest.mark.parametrize("runner", ["ThreadRunner", "ParallelRunner"])
def test_judges_are_asked_only_when_all_plans_are_known(kedro_run, project, pairs, runner):
    with LoopbackLlm(graded) as server:
        configure(project, {"good": server})
        prepare(kedro_run)
        bootstrap_project(project)
        command = ["run", "--pipelines=llm_judging", "--env=test", f"--runner={runner}"]
        result = CliRunner().invoke(cli, command)
        assert server.counts.calls == 0
    assert result.exit_code == 1
    assert f"Judges can't be asked under {runner}" in result.output


def test_a_pool_is_priced_and_judged_before_people_have_judged(kedro_run, project, pairs):
    with LoopbackLlm(graded) as server:
        configure(project, {"good": server})
        environment = project / "conf" / "test" / "globals.yml"
        environment.write_text(environment.read_text() + "\njudgments: none\n")
        kedro_run("ingestion", env="test")
        bootstrap_project(project)
        params = f"pairs={pairs},judging.trial=4"
        result = CliRunner().invoke(cli, ["estimate", "--env", "test", "--params", params])
        assert result.exit_code == 0, result.output
        assert server.counts.calls == 0
        plan = pd.read_parquet(project / "data/08_reporting/test/tables/judging_plan.parquet")
        assert plan["calls"].tolist() == [4]
        kedro_run("llm_judging", env="test", params={"pairs": pairs})
        with pytest.raises(Exception, match="There is no pair to judge: nobody has judged one"):
            kedro_run("llm_judging", env="test")
    assert judgments(project)["outcome"].eq("ok").all()
    assert len(judgments(project)) == PAIRS


def test_replies_move_to_another_machine_and_back(kedro_run, project, pairs):
    with LoopbackLlm(graded) as server:
        configure(project, {"good": server})
        prepare(kedro_run)
        kedro_run("llm_judging", env="test", params={"pairs": pairs})
        first = judgments(project)
        bootstrap_project(project)
        for name in ("replies.jsonl", "replies.parquet"):
            written = CliRunner().invoke(cli, ["replies", "export", name, "--env", "test"])
            assert f"{PAIRS} attempts written" in written.output
            for path in (project / "data/01_raw/test").glob("replies.sqlite*"):
                path.unlink()
            read = CliRunner().invoke(cli, ["replies", "import", name, "--env", "test"])
            assert f"{PAIRS} attempts added; 0 were there already." in read.output
        kedro_run("llm_judging", env="test", params={"pairs": pairs})
        assert server.counts.calls == PAIRS
    pd.testing.assert_frame_equal(judgments(project), first)


def test_a_missing_key_names_its_entry_before_any_judge_is_asked(kedro_run, project, pairs):
    with LoopbackLlm(graded) as server:
        configure(project, {"good": server, "lost": server})
        judges = project / "conf" / "test" / "judges.yml"
        models = yaml.safe_load(judges.read_text())
        models["models"]["lost"]["credentials"] = "LOST_KEY"
        judges.write_text(yaml.safe_dump(models))
        prepare(kedro_run)
        with pytest.raises(Exception, match="credentials entry 'LOST_KEY'"):
            kedro_run("llm_judging", env="test", params={"pairs": pairs})
        assert server.counts.calls == 0


def test_a_key_of_the_credentials_file_is_used_in_every_environment(
    kedro_run, project, pairs, monkeypatch
):
    monkeypatch.delenv("TEST_KEY")
    (project / "conf" / "local" / "credentials.yml").write_text(f"TEST_KEY: {KEY}\n")
    with LoopbackLlm(graded) as server:
        configure(project, {"good": server})
        prepare(kedro_run)
        kedro_run("llm_judging", env="test", params={"pairs": pairs})
        assert {call.headers["authorization"] for call in server.calls} == {f"Bearer {KEY}"}


def test_the_active_judges_are_no_matter_of_the_command_line(kedro_run, world):
    with pytest.raises(Exception, match="`active_judges` can't be given with --params"):
        kedro_run("human_qrels", env="test", params={"active_judges": ["lexical"]})


def test_planted_secrets_show_up_nowhere_else(
    kedro_run, project, world, pairs, capfd, caplog, monkeypatch
):
    """Neither the key nor a word of a document or reply is in a log, a tracked run or a report."""
    in_document, in_reply = "palavradodocumento", "palavradaresposta"
    docs = world / "docs.csv"
    docs.write_text(docs.read_text().replace("<p>a</p>", f"<p>{in_document}</p>"))
    monkeypatch.setenv("LANGSMITH_TRACING", "true")
    monkeypatch.setenv("LANGCHAIN_TRACING_V2", "true")

    def answer(call) -> Answer:
        if call.number % 5 == 4:
            return failure(500, message=f"{KEY} {in_document}")
        return Answer(f"{in_reply} [/INST]" if call.number % 2 else graded(call).content)

    with LoopbackLlm(answer) as server:
        configure(project, {"good": server})
        prepare(kedro_run)
        with caplog.at_level("DEBUG"), pytest.raises(IncompleteJudgingError) as error:
            kedro_run("llm_judging", env="test", params={"pairs": pairs})
    printed = "".join(capfd.readouterr()) + caplog.text + str(error.value)
    tracked = (project / "mlflow.db").read_bytes() if (project / "mlflow.db").exists() else b""
    for secret in (KEY, in_document, in_reply):
        assert secret not in printed
        assert secret.encode() not in tracked
    meant = re.compile(
        r"01_raw/|documents\.parquet|llm_judgments|judges/.*/judgments|replies_(en|pt)\.html"
    )
    for path in (path for path in (project / "data").rglob("*") if path.is_file()):
        content = path.read_bytes()
        assert KEY.encode() not in content, path
        if not meant.search(os.fspath(path)):
            assert in_document.encode() not in content, path
            assert in_reply.encode() not in content, path


@pytest.mark.parametrize(
    ("mistyped", "line"),
    [(f'FIRST: a\nTEST_KEY: "{KEY}\n', ", line 3"), (f"TEST_KEY:{KEY}\n", "")],
    ids=["a quote that does not end", "no blank after the colon"],
)
def test_a_mistyped_credentials_file_is_a_sentence_without_the_key(
    kedro_run, project, pairs, capfd, caplog, monkeypatch, mistyped, line
):
    monkeypatch.delenv("TEST_KEY")
    (project / "conf" / "local" / "credentials.yml").write_text(mistyped)
    with LoopbackLlm(graded) as server:
        configure(project, {"good": server})
        prepare(kedro_run)
        command = ["run", "--pipelines=llm_judging", "--env=test", f"--params=pairs={pairs}"]
        with caplog.at_level("DEBUG"):
            result = CliRunner().invoke(cli, command)
        assert server.counts.calls == 0
    sentence = f"conf/local/credentials.yml{line}: the credentials can't be read."
    assert sentence in result.output
    shown = traceback.format_exception(result.exception)
    assert KEY not in "".join((*capfd.readouterr(), *shown, result.output, caplog.text))


def test_the_store_holds_the_raw_replies_and_no_key(kedro_run, project, pairs):
    with LoopbackLlm(graded) as server:
        configure(project, {"good": server})
        prepare(kedro_run)
        kedro_run("llm_judging", env="test", params={"pairs": pairs})
    with sqlite3.connect(project / "data/01_raw/test/replies.sqlite") as store:
        replies = store.execute("select reply, model_returned from attempts").fetchall()
    assert len(replies) == PAIRS
    assert all(json.loads(reply)["score"] in range(4) for reply, _ in replies)
    assert {model for _, model in replies} == {"good-1-2026"}


def test_a_model_asked_by_batches_gives_the_same_table(kedro_run, project, pairs):
    with LoopbackLlm(graded) as server:
        desk = BatchDesk(server, questions=1)
        desk.add_to(server.app)
        configure(project, {"good": server})
        prepare(kedro_run)
        kedro_run("llm_judging", env="test", params={"pairs": pairs})
        called = judgments(project)
        (project / "data/01_raw/test/replies.sqlite").unlink()
        configure(project, {"good": server}, batch=True)
        kedro_run("llm_judging", env="test", params={"pairs": pairs})
        batches = project / "data/01_raw/test/batches_good_rationale.jsonl"
        events = [json.loads(line)["event"] for line in batches.read_text().split("\n") if line]
        assert events == ["begun", "handed in", "closed"]
    pd.testing.assert_frame_equal(judgments(project), called)


def test_what_waits_in_a_batch_costs_nothing_and_is_not_asked_by_calls(
    kedro_run, project, pairs, monkeypatch
):
    def interrupt(*_):
        raise RuntimeError("the machine went down")

    with LoopbackLlm(graded) as server:
        desk = BatchDesk(server)
        desk.add_to(server.app)
        configure(project, {"good": server}, batch=True)
        prepare(kedro_run)
        with monkeypatch.context() as broken:
            broken.setattr("normastcu.judging.batch._Batches._collected", interrupt)
            with pytest.raises(IncompleteJudgingError):
                kedro_run("llm_judging", env="test", params={"pairs": pairs})
        configure(project, {"good": server})
        free = {"pairs": pairs, "judging": {"budget": 0.0}}
        with pytest.raises(IncompleteJudgingError, match="set `batch: true` for the model 'good'"):
            kedro_run("llm_judging", env="test", params=free)
        assert server.counts.calls == 0
        desk.questions = 1
        configure(project, {"good": server}, batch=True)
        kedro_run("llm_judging", env="test", params=free)
        assert (server.counts.calls, len(desk.batches)) == (PAIRS, 1)
    assert judgments(project)["outcome"].eq("ok").all()
    plan = pd.read_parquet(project / "data/08_reporting/test/tables/judging_plan.parquet").iloc[0]
    assert (plan["pairs"], plan["calls"], plan["cost"]) == (PAIRS, 0, 0.0)
