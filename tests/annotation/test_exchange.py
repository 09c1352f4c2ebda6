"""A campaign moves to another machine and back; judgments come in from elsewhere."""

import hashlib
import json
import stat
import zipfile

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.annotation.campaigns import grade, id_of, prepare, tasks_of

from normastcu.annotation.errors import AnnotationError
from normastcu.annotation.exchange import export_campaign, import_campaign, publish
from normastcu.annotation.store import AnnotationStore
from normastcu.collection.errors import CollectionError


@pytest.fixture
def judged(campaign):
    """Return the campaign with an answer, a change, an undo, a comment, and all kinds of rest."""
    grade(campaign.store, campaign.a, ("q1", "d1"), 2)
    grade(campaign.store, campaign.a, ("q1", "d1"), 1, "changed")
    grade(campaign.store, campaign.a, ("q1", "d2"), "unknown")
    grade(campaign.store, campaign.a, ("q1", "d3"), 2, "wrong")
    campaign.store.undo(campaign.a)
    grade(campaign.store, campaign.b, ("q1", "d1"), 0)
    grade(campaign.store, campaign.b, ("q1", "d3"), "skipped")
    campaign.store.suggest(campaign.a, "q1", "d5", grade=2, reason="é", submission_id="s")
    campaign.store.start_adjudication(["B"], [("q1", "d1")])
    campaign.store.confirm_instructions(campaign.a)
    return campaign


@pytest.fixture
def exported(judged, tmp_path):
    path = tmp_path / "campaign.zip"
    export_campaign(judged.store, path)
    return path


@pytest.fixture
def other(tmp_path):
    with AnnotationStore(tmp_path / "other" / "annotation.sqlite") as opened:
        yield opened


def state(store, *people):
    return [
        store.campaign(),
        store.people(),
        store.answers().to_csv(),
        store.overview(),
        [tasks_of(store, person) for person in people],
        [store.progress(person) for person in people],
        store.search("diárias"),
        store.document("d2"),
    ]


def test_an_imported_campaign_is_the_same_and_exports_the_same_bytes(
    judged, exported, other, tmp_path
):
    assert import_campaign(other, exported)
    assert state(other, judged.a, judged.b) == state(judged.store, judged.a, judged.b)
    export_campaign(other, tmp_path / "again.zip")
    assert (tmp_path / "again.zip").read_bytes() == exported.read_bytes()


def test_a_campaign_keeps_its_key_and_another_one_has_its_own(judged, exported, other, tmp_path):
    key = judged.store.campaign().key
    assert len(bytes.fromhex(key)) == 16
    prepare(judged.store)
    assert judged.store.campaign().key == key
    import_campaign(other, exported)
    assert other.campaign().key == key
    with AnnotationStore(tmp_path / "new.sqlite") as new:
        prepare(new)
        assert new.campaign().key != key


def test_undo_leaves_a_newer_imported_judgment(campaign, tmp_path):
    grade(campaign.store, campaign.a, ("q1", "d1"), "skipped")
    path = tmp_path / "judgments.csv"
    path.write_text("query_id,doc_id,annotator,grade\nq1,d1,A,2\n", encoding="utf-8")
    assert campaign.store.import_judgments(path) == 1

    undone = campaign.store.undo(campaign.a)

    assert (undone.doc_id, undone.answer.grade) == ("d1", 2)
    assert list(campaign.store.judgments()["grade"]) == [2]
    counts = {row.query_id: (row.n_answered, row.n_skipped) for row in campaign.store.progress(1)}
    assert counts == {"q1": (1, 0), "q2": (0, 0)}


def test_people_go_on_with_their_links_in_the_imported_campaign(judged, exported, other):
    import_campaign(other, exported)
    person = other.person_of_token(judged.tokens["A"])
    grade(other, person.id, ("q2", "d4"), 2)
    assert other.undo(person.id).answer is None
    undone = other.undo(person.id)
    assert (undone.doc_id, undone.answer) == ("d2", None)


def test_the_file_is_the_owners_alone_and_holds_no_token(judged, exported):
    assert stat.S_IMODE(exported.stat().st_mode) == 0o600
    with zipfile.ZipFile(exported) as archive:
        content = b"".join(archive.read(name) for name in archive.namelist())
    assert not any(token.encode() in content for token in judged.tokens.values())


def test_answers_can_be_read_by_name(exported):
    with zipfile.ZipFile(exported) as archive:
        answers = pd.read_json(archive.open("answers.jsonl"), lines=True, dtype=False)
    first = answers.iloc[0]
    assert (first["annotator"], first["doc_id"], first["grade"], first["counts"]) == (
        "A",
        "d1",
        2,
        False,
    )
    assert list(answers["origin"]) == ["pool"] * 6 + ["suggested"]
    assert answers["seconds"].iloc[0] == 1.5


def test_importing_again_changes_nothing(exported, other):
    assert import_campaign(other, exported)
    assert not import_campaign(other, exported)


def test_two_campaigns_are_never_mixed(exported, other):
    other.add_person("Z")
    with pytest.raises(AnnotationError, match="never mixed"):
        import_campaign(other, exported)
    assert [person.name for person in other.people()] == ["Z"]


def test_a_campaign_that_went_on_is_another_one(judged, exported):
    grade(judged.store, judged.a, ("q2", "d4"), 2)
    with pytest.raises(AnnotationError, match="its events differ"):
        import_campaign(judged.store, exported)


def rewritten(path, change):
    """Write a copy of an export in which `change` has replaced the content of files."""
    target = path.with_name("changed.zip")
    with zipfile.ZipFile(path) as archive, zipfile.ZipFile(target, "w") as copy:
        for name in archive.namelist():
            copy.writestr(name, change(name, archive.read(name)))
    return target


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("events.jsonl", b'"grade":0', b'"grade":1'),
        ("events.jsonl", b'"pair":', b'"pear":'),
        ("events.jsonl", b'"pair":1', b'"pair":99'),
        ("people.jsonl", b"{", b"["),
    ],
)
def test_a_changed_export_is_refused_as_a_whole(exported, other, name, old, new):
    path = rewritten(exported, lambda n, data: data.replace(old, new) if n == name else data)
    with pytest.raises(AnnotationError, match="not what the manifest says"):
        import_campaign(other, path)
    assert other.people() == []


def test_another_version_is_refused(exported, other):
    def change(name, data):
        return json.dumps(json.loads(data) | {"version": 1}) if name == "manifest.json" else data

    with pytest.raises(AnnotationError, match="another version"):
        import_campaign(other, rewritten(exported, change))


@pytest.mark.parametrize("left_out", ["sha256", "rows"])
def test_a_manifest_that_does_not_vouch_for_a_table_is_refused(exported, other, left_out):
    def change(name, data):
        if name != "manifest.json":
            return data
        manifest = json.loads(data)
        del manifest["tables"]["events"][left_out]
        return json.dumps(manifest)

    with pytest.raises(AnnotationError, match="no usable manifest"):
        import_campaign(other, rewritten(exported, change))
    assert other.people() == []


def test_another_file_is_refused(tmp_path, other):
    path = tmp_path / "a.zip"
    path.write_bytes(b"text")
    with pytest.raises(AnnotationError, match="can't be read as a full export"):
        import_campaign(other, path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("x", "y")
    with pytest.raises(AnnotationError, match="no usable manifest"):
        import_campaign(other, path)


def damaged(path, where, offset, value):
    """Write a copy of an export with one byte of its first entry's header or data replaced."""
    with zipfile.ZipFile(path) as archive:
        first, begin = archive.infolist()[0].filename, archive.start_dir
    content = bytearray(path.read_bytes())
    data = 30 + len(first) + int.from_bytes(content[28:30], "little")
    content[{"directory": begin, "data": data}[where] + offset] = value
    target = path.with_name("damaged.zip")
    target.write_bytes(content)
    return target


@pytest.mark.parametrize(
    ("where", "offset", "value"),
    [
        ("data", 0, 0xFF),  # a block of no known type: zlib.error
        ("data", 30, 0xFF),
        ("directory", 8, 1),  # encrypted: RuntimeError
        ("directory", 10, 99),  # compressed otherwise: NotImplementedError
    ],
)
def test_a_damaged_zip_is_refused(exported, other, where, offset, value):
    with pytest.raises(AnnotationError, match="can't be read as a full export"):
        import_campaign(other, damaged(exported, where, offset, value))
    assert not other.has_campaign()


def test_a_cut_off_zip_is_refused(exported, other):
    exported.write_bytes(exported.read_bytes()[:-100])
    with pytest.raises(AnnotationError, match="can't be read as a full export"):
        import_campaign(other, exported)


def test_a_store_without_a_campaign_is_not_exported(other, tmp_path):
    other.add_person("Z")
    with pytest.raises(AnnotationError, match="There is no campaign"):
        export_campaign(other, tmp_path / "none.zip")
    assert not (tmp_path / "none.zip").exists()


def test_an_export_without_a_campaign_is_refused(exported, other):
    def empty(name, data):
        if name != "manifest.json":
            return b""
        nothing = {"rows": 0, "sha256": hashlib.sha256().hexdigest()}
        manifest = json.loads(data)
        return json.dumps(manifest | {"tables": dict.fromkeys(manifest["tables"], nothing)})

    with pytest.raises(AnnotationError, match="holds no campaign"):
        import_campaign(other, rewritten(exported, empty))
    assert not other.has_campaign()


def test_publishing_writes_the_released_and_the_canonical_form(judged, tmp_path):
    assert publish(judged.store, tmp_path / "out") == (3, 4)
    released = (tmp_path / "out" / "raw_human_eval.csv").read_text(encoding="utf-8")
    assert released.splitlines() == [
        "QUERY_KEY,DOC_KEY,AVALIACAO,USUARIO_AVALIADOR",
        "q1,d1,1,A",
        "q1,d1,0,B",
        "q1,d5,2,A",
    ]
    table = pd.read_parquet(tmp_path / "out" / "judgments.parquet")
    assert table.astype(object).where(table.notna(), None).to_numpy().tolist() == [
        ["q1", "d1", "A", 1, "pool"],
        ["q1", "d1", "B", 0, "pool"],
        ["q1", "d2", "A", None, "pool"],
        ["q1", "d5", "A", 2, "suggested"],
    ]


def test_publishing_that_fails_leaves_what_was_published(judged, tmp_path, monkeypatch):
    out = tmp_path / "out"
    publish(judged.store, out)
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    grade(judged.store, judged.a, ("q2", "d4"), 0)

    def full_disk(self, path, **options):
        path.write_bytes(b"half")
        raise OSError("no space left")

    monkeypatch.setattr(pd.DataFrame, "to_parquet", full_disk)
    with pytest.raises(OSError, match="no space left"):
        publish(judged.store, out)
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before


def csv(tmp_path, *lines):
    path = tmp_path / "judgments.csv"
    header = "query_id,doc_id,annotator,grade,origin"
    path.write_text("\n".join([header, *lines]) + "\n", encoding="utf-8")
    return path


def test_judgments_from_a_csv_are_marked_as_imported(campaign, tmp_path):
    path = csv(tmp_path, "q1,d1,A,2,pool", "q1,d2,A,,pool", "q1,d5,B,1,suggested")
    assert campaign.store.import_judgments(path) == 3
    assert campaign.store.import_judgments(path) == 0
    answers = campaign.store.answers()
    assert set(answers["source"]) == {"imported"}
    assert answers["seconds"].isna().all()
    assert campaign.store.judgments()["grade"].fillna(-1).tolist() == [2, -1, 1]
    assert (
        campaign.store.progress(campaign.a)[0].n_answered
        + campaign.store.progress(campaign.a)[1].n_answered
        == 2
    )
    assert campaign.store.undo(campaign.a) is None


def test_an_imported_judgment_can_be_changed_on_the_screen_and_the_change_undone(
    campaign, tmp_path
):
    campaign.store.import_judgments(csv(tmp_path, "q1,d1,A,2,pool"))
    grade(campaign.store, campaign.a, ("q1", "d1"), 0)
    assert campaign.store.undo(campaign.a).answer.grade == 2


def test_an_imported_judgment_of_a_pair_of_others_makes_it_ones_own(store, tmp_path):
    store.add_people(["A", "B"])
    prepare(store, overlap=1)
    foreign = store.next_open(id_of(store, "B"))
    store.import_judgments(csv(tmp_path, f"{foreign.query_id},{foreign.doc_id},A,1,pool"))
    assert store.task(id_of(store, "A"), foreign.pair_id).answer.grade == 1
    assert store.task(id_of(store, "B"), foreign.pair_id) is None


@pytest.mark.parametrize(
    ("line", "error", "message"),
    [
        ("q1,d1,Z,1,pool", AnnotationError, "nobody named 'Z'"),
        ("q1,d4,A,1,pool", AnnotationError, "not in the pool"),
        ("q1,d9,A,1,suggested", AnnotationError, "not in the collection"),
        ("q1,d1,A,0,pool", AnnotationError, "has grade 2 already, the file grade 0"),
        ("q1,d1,A,,pool", AnnotationError, "has grade 2 already, the file don't know"),
        ("q1,d1,A,9,pool", CollectionError, "9"),
        ("q9,d1,A,1,pool", CollectionError, "q9"),
    ],
)
def test_a_wrong_judgment_imports_nothing(campaign, tmp_path, line, error, message):
    grade(campaign.store, campaign.a, ("q1", "d1"), 2)
    with pytest.raises(error, match=message):
        campaign.store.import_judgments(csv(tmp_path, "q2,d4,B,1,pool", line))
    assert len(campaign.store.answers()) == 1


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["A", "B"]),
        st.integers(0, 4),
        st.sampled_from([0, 1, 2, "unknown", "skipped", "undo", "suggest"]),
        st.text(max_size=20),
    ),
    max_size=15,
)


@settings(max_examples=15, deadline=None)
@given(steps=STEPS, overlap=st.sampled_from([None, 1, 2]))
def test_any_campaign_survives_the_move(tmp_path_factory, steps, overlap):
    folder = tmp_path_factory.mktemp("moved")
    with AnnotationStore(folder / "a.sqlite") as store, AnnotationStore(folder / "b.sqlite") as new:
        store.add_people(["A", "B"])
        prepare(store, overlap=overlap)
        people = {name: id_of(store, name) for name in "AB"}
        for number, (name, index, value, comment) in enumerate(steps):
            take(store, people[name], index, value, comment, str(number))
        export_campaign(store, folder / "a.zip")
        import_campaign(new, folder / "a.zip")
        assert state(new, *people.values()) == state(store, *people.values())
        export_campaign(new, folder / "b.zip")
        assert (folder / "a.zip").read_bytes() == (folder / "b.zip").read_bytes()


def take(store, person_id, index, value, comment, submission_id):
    """Take one step: answer, undo or suggest."""
    tasks = tasks_of(store, person_id)
    if value == "undo":
        store.undo(person_id)
    elif value == "suggest" and any(task.query_id == "q1" for task in tasks):
        store.suggest(person_id, "q1", "d5", grade=1, reason=comment, submission_id=submission_id)
    elif value != "suggest" and tasks:
        store.answer(
            person_id,
            tasks[index % len(tasks)].pair_id,
            choice="grade" if isinstance(value, int) else value,
            grade=value if isinstance(value, int) else None,
            comment=comment,
            seconds=index / 7,
            submission_id=submission_id,
        )
