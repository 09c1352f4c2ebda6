"""A campaign from its pool to its qrels, by the commands of the README."""

import datetime
import ipaddress
import re
import shlex
import signal
import ssl
import sys
from collections import defaultdict
from contextlib import closing
from pathlib import Path

import httpx
import pandas as pd
import pytest
from click.testing import CliRunner
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from kedro.framework.startup import bootstrap_project
from tests.annotation.campaigns import prepare
from tests.annotation.served import ServedScreen, signed_in
from tests.end_to_end.projects import end_tracked_runs

from normastcu.annotation.store import AnnotationStore
from normastcu.cli import cli

DATABASE = Path("data/01_raw/screen/annotation.sqlite")
N_QUERIES = 3
GRADES = {"Ana": (0, 2), "Bia": (0, 1)}
"""What they give to pairs of an even and of an odd number."""


@pytest.fixture(scope="module")
def documented(project_root):
    """Return the commands under 'People judge' of the README: its block, and those in its text."""
    readme = (project_root / "README.md").read_text(encoding="utf-8")
    section = readme.split("## People judge\n")[1].split("\n## ")[0]
    before, block, after = section.split("```")
    in_text = re.findall(r"`(kedro [^`]+)`", before + after)
    lines = block.strip().splitlines()
    return [[shlex.split(line, comments=True) for line in found] for found in (lines, in_text)]


@pytest.fixture
def kedro(project):
    """Return a function that runs the words of a command and returns its lines."""
    bootstrap_project(project)

    def run(words):
        assert words[0] == "kedro"
        result = CliRunner().invoke(cli, words[1:])
        end_tracked_runs()
        assert result.exit_code == 0, result.output
        return [line for line in result.output.splitlines() if not line.startswith(("[", " "))]

    return run


def tokens_of(lines):
    return dict(line.split(": http://127.0.0.1:8000/enter/") for line in lines)


def served(words, project, *more, scheme="http"):
    """Serve by the words of a command, on a free port."""
    command = [sys.executable, "-m", *words, *more, "--port"]
    return ServedScreen(command, project, scheme)


def judge(client, name, person):
    """Judge the first queries of a person's order; return the grades by query and document."""
    with AnnotationStore(DATABASE) as store:
        rows = store.progress(person)[:N_QUERIES]
        tasks = [task for row in rows for task in store.query_tasks(person, row.query_id)]
    given = {}
    for number, task in enumerate(tasks):
        grade = GRADES[name][task.pair_id % 2]
        body = {"choice": "grade", "grade": grade, "submission_id": f"{name}-{number:06}"}
        answer = client.post(f"/pair/{task.pair_id}/answer", json=body)
        assert answer.json()["saved"]
        given[task.query_id, task.doc_id] = grade
    return given


def test_a_campaign_by_the_commands_of_the_readme(documented, kedro, kedro_run, project):
    """Run them word by word, but on a free port; Ctrl-C comes after `close`."""
    (pool, prepare_, assessors, serve, close, qrels), in_text = documented
    kedro(pool)
    assert kedro(prepare_) == [
        "240 pairs of 12 queries; new: 240. Documents in the collection: 240.",
        "1 assessor still to be added: kedro annotate assessors NAME...",
    ]
    tokens = tokens_of(kedro(assessors))
    assert list(tokens) == ["Ana", "Bia", "Caio", "Davi"]
    for words in in_text:
        if words[2] == "assessors":
            tokens |= tokens_of(kedro(words))
    server = served(serve, project)
    given = {}
    try:
        for person, name in enumerate(GRADES, start=1):
            with closing(signed_in(server.address, tokens[name])) as client:
                given[name] = judge(client, name, person)
        with closing(signed_in(server.address, tokens["Chefe"])) as chief:
            del chief.headers["Accept"]
            assert "240 pares" in chief.get("/admin").text
        assert kedro(close) == ["The campaign is closed."]
        with closing(signed_in(server.address, tokens["Ana"])) as client:
            late = {"choice": "unknown", "submission_id": "too-late-1"}
            assert client.post("/pair/1/answer", json=late).status_code == 409
    finally:
        server.stop(signal.SIGINT)
    check_log(server.log, tokens)
    kedro(qrels)
    kedro_run("pooling", env="screen")
    check_qrels(project, given)
    check_taken_out(kedro, in_text, given)


def check_taken_out(kedro, in_text, given):
    """Run the commands that move and publish, and import the campaign into an empty database."""
    *_, export, publish = [words for words in in_text if words[2] != "assessors"]
    kedro(export)
    said = kedro(publish)
    n_judgments = sum(map(len, given.values()))
    assert len(said) == 1
    assert f"{n_judgments} graded judgments to raw_human_eval.csv" in said[0]
    assert len(pd.read_csv(Path(publish[3], "raw_human_eval.csv"))) == n_judgments
    for path in DATABASE.parent.glob(f"{DATABASE.name}*"):
        path.unlink()
    import_ = [{"export": "import"}.get(word, word) for word in export]
    assert kedro(import_) == ["The campaign is imported."]


def check_log(log, tokens):
    said = "".join(log)
    assert not [name for name, token in tokens.items() if token in said]
    assert said.count("GET /enter/… HTTP/1.1") == 4
    assert "Traceback" not in said


def check_qrels(project, given):
    """Compare with means worked out here; 0.5 and 1.5 go to the even number."""
    grades = defaultdict(list)
    for judged in given.values():
        for pair, grade in judged.items():
            grades[pair].append(grade)
    expected = {pair: round(sum(values) / len(values)) for pair, values in grades.items()}
    qrels = pd.read_parquet(project / "data/05_model_input/screen/human_qrels.parquet")
    reference = qrels[qrels["qrels"] == "reference"].set_index(["query_id", "doc_id"])["grade"]
    assert reference.to_dict() == expected
    report = pd.read_parquet(project / "data/08_reporting/screen/tables/pool_report.parquet")
    whole = report[report["query_id"].isna() & report["reason"].isna() & report["system"].isna()]
    assert whole["n_judged"].tolist() == [len(expected)]
    assert whole["n_relevant"].tolist() == [sum(grade > 0 for grade in expected.values())]


def test_it_is_served_over_tls(project):
    with AnnotationStore(project / DATABASE) as store:
        prepare(store)
        token = store.add_person("Ana")
    certificate, key = self_signed(project)
    serve = ["kedro", "annotate", "serve", "--env", "screen"]
    more = ("--certificate", str(certificate), "--key", str(key))
    server = served(serve, project, *more, scheme="https")
    trusting = ssl.create_default_context(cafile=str(certificate))
    try:
        with httpx.Client(base_url=server.address, verify=trusting) as client:
            cookie = client.get(f"/enter/{token}").headers["set-cookie"]
        with closing(signed_in(server.address, token, verify=trusting)) as client:
            assert client.get("/").status_code == 200
        with pytest.raises(httpx.TransportError):
            httpx.get(server.address.replace("https", "http"))
    finally:
        server.stop(signal.SIGINT)
    assert cookie.startswith("__Host-assessment=")
    attributes = {part.strip().split("=")[0].lower() for part in cookie.split(";")[1:]}
    assert {"secure", "httponly", "samesite", "path"} <= attributes
    assert "domain" not in attributes
    assert token not in "".join(server.log)


def self_signed(folder):
    """Write a certificate for this machine and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "assessment")])
    address = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
    start = datetime.datetime.now(datetime.UTC) - datetime.timedelta(hours=1)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(start)
        .not_valid_after(start + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([address]), critical=False)
        .sign(key, hashes.SHA256())
    )
    paths = folder / "certificate.pem", folder / "key.pem"
    paths[0].write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    paths[1].write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return paths
