"""Raw files from a directory, from a hub and from a web server, both on the loopback interface."""

import gzip
import hashlib
import json
import logging
import os
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import huggingface_hub
import pytest
from pydantic import ValidationError
from tests.collection.loopback import FileSite, HubSite, LoopbackServer, Reply

from normastcu.collection import hub
from normastcu.collection.errors import CollectionError
from normastcu.collection.sources import (
    FilesSource,
    HubSource,
    OpenDataSource,
    RawFile,
    SourceSettings,
    fetch,
    fetch_optional,
    local_file,
)

DOCUMENTS = ("docs.csv", "doc.csv")
# Incompressible enough that a byte in the wrong place shows, long enough for several chunks.
CONTENT = b"KEY,TEXTONORMA\n" + b"".join(b"NORMA-%d,%x\n" % (i, i**7) for i in range(60_000))
SHA256 = hashlib.sha256(CONTENT).hexdigest()
OLD, NEW = "0" * 39 + "1", "0" * 39 + "2"
TOKEN = "hf_" + "not_a_real_one"


@pytest.fixture(autouse=True)
def direct_connections(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Keep the proxy, the offline mode and the resolved commits of one test from another."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1,localhost")
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", False)
    hub._resolve.cache_clear()
    huggingface_hub.close_session()
    yield
    huggingface_hub.close_session()
    hub._resolve.cache_clear()


def _read_terminal(main: int) -> str:
    shown = b""
    with os.fdopen(main, "rb", buffering=0) as screen, suppress(OSError):  # EIO: all is read
        while piece := screen.read(100_000):
            shown += piece
    return shown.decode()


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Collect the seconds the sources and the hub's library would wait, instead of waiting.

    Calls hand `time.sleep` over: as a default argument it was bound before it is replaced here.
    """
    seconds: list[float] = []
    monkeypatch.setattr(time, "sleep", seconds.append)
    return seconds


class TestFiles:
    def settings(self, folder: Path) -> SourceSettings:
        return SourceSettings(kind="files", files=FilesSource(path=str(folder)))

    def test_the_first_existing_name_is_taken(self, tmp_path: Path) -> None:
        (tmp_path / "doc.csv").write_bytes(CONTENT)

        found = fetch(self.settings(tmp_path), DOCUMENTS)

        assert found.path == tmp_path / "doc.csv"
        assert found.name == str(tmp_path / "doc.csv")
        assert found.provenance.kind == "files"
        assert found.provenance.location == str(tmp_path / "doc.csv")
        assert found.provenance.revision == ""
        assert found.provenance.sha256 == SHA256
        assert found.provenance.size == len(CONTENT)

    def test_the_preferred_name_wins(self, tmp_path: Path) -> None:
        (tmp_path / "doc.csv").touch()
        (tmp_path / "docs.csv").touch()

        assert fetch(self.settings(tmp_path), DOCUMENTS).path.name == "docs.csv"

    def test_a_directory_is_not_a_file(self, tmp_path: Path) -> None:
        (tmp_path / "docs.csv").mkdir()

        assert fetch_optional(self.settings(tmp_path), DOCUMENTS) is None

    def test_no_such_file_names_directory_names_and_remedy(self, tmp_path: Path) -> None:
        with pytest.raises(CollectionError) as error:
            fetch(self.settings(tmp_path), DOCUMENTS)

        assert f"no docs.csv or doc.csv in the directory of raw files {tmp_path}" in str(
            error.value
        )
        assert "NORMASTCU_RAW" in str(error.value)

    @pytest.mark.parametrize("path", [None, "", "  "])
    def test_a_directory_that_is_not_set_never_falls_back(self, path: str | None) -> None:
        with pytest.raises(CollectionError, match="is not set: set NORMASTCU_RAW"):
            fetch_optional(SourceSettings(kind="files", files=FilesSource(path=path)), DOCUMENTS)

    def test_a_directory_that_does_not_exist(self, tmp_path: Path) -> None:
        with pytest.raises(CollectionError, match=f"does not exist: {tmp_path / 'nowhere'}"):
            fetch_optional(self.settings(tmp_path / "nowhere"), DOCUMENTS)

    def test_a_local_file_has_the_same_shape(self, tmp_path: Path) -> None:
        (tmp_path / "docs.csv").write_bytes(CONTENT)

        assert local_file(tmp_path / "docs.csv") == fetch(self.settings(tmp_path), DOCUMENTS)


class TestSettings:
    def test_unknown_keys_are_refused(self) -> None:
        with pytest.raises(ValidationError, match="directory"):
            SourceSettings.model_validate({"kind": "files", "files": {"directory": "x"}})

    @pytest.mark.parametrize("url", ["ftp://example.org/norma.csv", "http://[", "norma.csv", ""])
    def test_addresses_are_checked(self, url: str) -> None:
        with pytest.raises(ValidationError, match="url"):
            OpenDataSource(url=url)

    def test_the_published_places_are_the_defaults(self) -> None:
        settings = SourceSettings(kind="hub")

        assert settings.hub.repo_id == "LeandroRibeiro/NormasTCU"
        assert settings.open_data.url.startswith("https://sites.tcu.gov.br/dados-abertos/normas/")


class TestOpenData:
    def settings(self, server: LoopbackServer, cache: Path, attempts: int = 4) -> SourceSettings:
        return SourceSettings(
            kind="open_data",
            open_data=OpenDataSource(
                url=f"{server.address}/arquivos/norma.csv",
                cache_dir=str(cache),
                attempts=attempts,
                timeout_s=5,
            ),
        )

    def fetch(self, server: LoopbackServer, cache: Path, attempts: int = 4) -> RawFile:
        return fetch(self.settings(server, cache, attempts), DOCUMENTS, wait=time.sleep)

    def ranges(self, server: LoopbackServer) -> list[str]:
        return [request.header("Range") for request in server.requests]

    def test_download(self, tmp_path: Path) -> None:
        with LoopbackServer(FileSite(CONTENT)) as server:
            found = self.fetch(server, tmp_path / "new" / "folder")

        assert found.path == tmp_path / "new" / "folder" / "norma.csv"
        assert found.path.read_bytes() == CONTENT
        assert found.name == f"{server.address}/arquivos/norma.csv"
        assert found.provenance.kind == "open_data"
        assert found.provenance.location == found.name
        assert found.provenance.revision == '"v1"'
        assert found.provenance.sha256 == SHA256
        assert found.provenance.size == len(CONTENT)
        names = sorted(path.name for path in found.path.parent.iterdir())
        assert names == ["norma.csv", "norma.csv.json"]

    def test_the_note_beside_the_file(self, tmp_path: Path) -> None:
        with LoopbackServer(FileSite(CONTENT)) as server:
            self.fetch(server, tmp_path)

        note = json.loads((tmp_path / "norma.csv.json").read_text(encoding="utf-8"))
        assert note.pop("retrieved").endswith("+00:00")
        assert note == {
            "url": f"{server.address}/arquivos/norma.csv",
            "etag": '"v1"',
            "last_modified": "Mon, 01 Jul 2024 00:00:00 GMT",
            "sha256": SHA256,
            "size": len(CONTENT),
        }

    def test_a_cut_download_goes_on_where_it_stopped(
        self, tmp_path: Path, waits: list[float]
    ) -> None:
        with LoopbackServer(FileSite(CONTENT, cuts=[300_000, 200_000])) as server:
            found = self.fetch(server, tmp_path)

        assert found.path.read_bytes() == CONTENT
        assert found.provenance.revision == '"v1"'
        assert self.ranges(server) == ["", "bytes=300000-", "bytes=500000-"]
        assert [one.header("If-Range") for one in server.requests] == ["", '"v1"', '"v1"']
        assert waits == [1, 2]

    @pytest.mark.usefixtures("waits")
    def test_a_later_run_goes_on_too(self, tmp_path: Path) -> None:
        with LoopbackServer(FileSite(CONTENT, cuts=[300_000])) as server:
            with pytest.raises(CollectionError):
                self.fetch(server, tmp_path, attempts=1)
            found = self.fetch(server, tmp_path, attempts=1)

        assert found.path.read_bytes() == CONTENT
        assert self.ranges(server) == ["", "bytes=300000-"]

    def test_cut_every_time(self, tmp_path: Path, waits: list[float]) -> None:
        with (
            LoopbackServer(FileSite(CONTENT, cuts=[1000] * 10)) as server,
            pytest.raises(CollectionError, match=r"was cut off .* Given up after 4 attempts"),
        ):
            self.fetch(server, tmp_path)

        assert len(server.requests) == 4
        assert waits == [1, 2, 4]
        assert not (tmp_path / "norma.csv").exists()
        assert (tmp_path / "norma.csv.part").read_bytes() == CONTENT[:4000]

    @pytest.mark.usefixtures("waits")
    def test_a_server_without_ranges_starts_again(self, tmp_path: Path) -> None:
        with LoopbackServer(FileSite(CONTENT, ranges=False, cuts=[300_000])) as server:
            assert self.fetch(server, tmp_path).path.read_bytes() == CONTENT

        assert self.ranges(server) == ["", "bytes=300000-"]

    @pytest.mark.parametrize(
        ("etag", "last_modified", "condition"),
        [
            ('W/"v1"', "Mon, 01 Jul 2024 00:00:00 GMT", "Mon, 01 Jul 2024 00:00:00 GMT"),
            ("", "Mon, 01 Jul 2024 00:00:00 GMT", "Mon, 01 Jul 2024 00:00:00 GMT"),
            ('"v1"', "", '"v1"'),
        ],
    )
    @pytest.mark.usefixtures("waits")
    def test_a_weak_mark_is_no_condition_for_a_range(
        self, tmp_path: Path, etag: str, last_modified: str, condition: str
    ) -> None:
        site = FileSite(CONTENT, etag=etag, last_modified=last_modified, cuts=[300_000])
        with LoopbackServer(site) as server:
            assert self.fetch(server, tmp_path).path.read_bytes() == CONTENT

        assert server.requests[1].header("If-Range") == condition

    @pytest.mark.usefixtures("waits")
    def test_without_any_mark_nothing_is_continued(self, tmp_path: Path) -> None:
        site = FileSite(CONTENT, etag="", last_modified="", cuts=[300_000])
        with LoopbackServer(site) as server:
            assert self.fetch(server, tmp_path).path.read_bytes() == CONTENT
            self.fetch(server, tmp_path)

        assert self.ranges(server) == ["", "", ""]

    @pytest.mark.usefixtures("waits")
    def test_a_file_that_changed_in_between_is_not_mixed(self, tmp_path: Path) -> None:
        changed = CONTENT[::-1]
        site = FileSite(CONTENT, cuts=[300_000])
        with LoopbackServer(site) as server:
            with pytest.raises(CollectionError):
                self.fetch(server, tmp_path, attempts=1)
            site.content, site.etag = changed, '"v2"'
            found = self.fetch(server, tmp_path)

        assert found.path.read_bytes() == changed
        assert found.provenance.revision == '"v2"'

    @pytest.mark.usefixtures("waits")
    @pytest.mark.parametrize(
        ("etag", "start"),
        [('"v2"', 300_000), ('"v1"', 299_999), ('"v1"', 0)],
        ids=["another-version", "a-byte-before", "from-the-start"],
    )
    def test_a_part_that_was_not_asked_for_is_not_joined(
        self, tmp_path: Path, etag: str, start: int
    ) -> None:
        size = len(CONTENT)
        headers = {"ETag": etag, "Content-Range": f"bytes {start}-{size - 1}/{size}"}
        odd = [Reply(206, b"x" * (size - start), headers)]
        site = FileSite(CONTENT, cuts=[300_000])
        with LoopbackServer(site) as server:
            with pytest.raises(CollectionError):
                self.fetch(server, tmp_path, attempts=1)
            server.site = lambda request: odd.pop() if odd else site(request)
            found = self.fetch(server, tmp_path)

        assert found.path.read_bytes() == CONTENT
        assert self.ranges(server) == ["", "bytes=300000-", ""]

    @pytest.mark.usefixtures("waits")
    def test_a_file_that_became_shorter(self, tmp_path: Path) -> None:
        site = FileSite(CONTENT, cuts=[300_000])
        with LoopbackServer(site) as server:
            with pytest.raises(CollectionError):
                self.fetch(server, tmp_path, attempts=1)
            site.content = CONTENT[:1000]
            found = self.fetch(server, tmp_path)

        assert found.path.read_bytes() == CONTENT[:1000]

    def test_an_unchanged_file_is_not_sent_again(self, tmp_path: Path) -> None:
        with LoopbackServer(FileSite(CONTENT)) as server:
            first = self.fetch(server, tmp_path)
            second = self.fetch(server, tmp_path)

        assert second == first
        assert server.requests[1].header("If-None-Match") == '"v1"'

    def test_a_date_serves_where_there_is_no_etag(self, tmp_path: Path) -> None:
        with LoopbackServer(FileSite(CONTENT, etag="")) as server:
            first = self.fetch(server, tmp_path)
            assert self.fetch(server, tmp_path) == first

        assert server.requests[1].header("If-Modified-Since") == "Mon, 01 Jul 2024 00:00:00 GMT"
        assert first.provenance.revision == "Mon, 01 Jul 2024 00:00:00 GMT"

    def test_a_new_version_replaces_the_old(self, tmp_path: Path) -> None:
        site = FileSite(CONTENT)
        with LoopbackServer(site) as server:
            self.fetch(server, tmp_path)
            site.content, site.etag = b"KEY\nNORMA-1\n", '"v2"'
            found = self.fetch(server, tmp_path)

        assert found.path.read_bytes() == b"KEY\nNORMA-1\n"
        assert found.provenance.revision == '"v2"'

    @pytest.mark.parametrize("damage", ["file", "note", "note is no object"])
    def test_a_damaged_copy_is_fetched_again(self, tmp_path: Path, damage: str) -> None:
        with LoopbackServer(FileSite(CONTENT)) as server:
            self.fetch(server, tmp_path)
            if damage == "file":
                (tmp_path / "norma.csv").write_bytes(CONTENT[:-1] + b"x")
            else:
                (tmp_path / "norma.csv.json").write_text("{" if damage == "note" else "[1]")
            found = self.fetch(server, tmp_path)

        assert found.path.read_bytes() == CONTENT
        assert server.requests[1].header("If-None-Match") == ""

    def test_another_address_is_another_file(self, tmp_path: Path) -> None:
        with LoopbackServer(FileSite(CONTENT)) as first, LoopbackServer(FileSite(b"x")) as second:
            self.fetch(first, tmp_path)
            assert self.fetch(second, tmp_path).path.read_bytes() == b"x"

    def test_without_network_the_copy_is_used_with_a_warning(
        self, tmp_path: Path, waits: list[float], caplog: pytest.LogCaptureFixture
    ) -> None:
        with LoopbackServer(FileSite(CONTENT)) as server:
            first = self.fetch(server, tmp_path)
        assert self.fetch(server, tmp_path) == first

        assert waits == []
        assert "can't be reached" in caplog.text
        assert str(tmp_path / "norma.csv") in caplog.text

    def test_a_server_in_trouble_leaves_the_copy_in_use(
        self, tmp_path: Path, waits: list[float], caplog: pytest.LogCaptureFixture
    ) -> None:
        with LoopbackServer(FileSite(CONTENT)) as server:
            first = self.fetch(server, tmp_path)
            server.site = lambda _: Reply(503)
            assert self.fetch(server, tmp_path) == first

        assert len(waits) == 3
        assert "503" in caplog.text

    def test_without_network_and_copy(self, tmp_path: Path, waits: list[float]) -> None:
        with LoopbackServer(FileSite(CONTENT)) as server:
            pass
        with pytest.raises(CollectionError, match=r"can't be reached .* Given up after 4 attempts"):
            self.fetch(server, tmp_path)

        assert waits == [1, 2, 4]
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.parametrize(
        ("headers", "expected"),
        [({}, 1), ({"Retry-After": "7"}, 7), ({"Retry-After": "9999"}, 60)],
        ids=["silent", "seconds", "too-long"],
    )
    def test_a_busy_server_is_asked_again(
        self, tmp_path: Path, waits: list[float], headers: dict[str, str], expected: float
    ) -> None:
        site = FileSite(CONTENT)
        replies = iter([Reply(429, headers=headers)])
        with LoopbackServer(lambda request: next(replies, None) or site(request)) as server:
            assert self.fetch(server, tmp_path).path.read_bytes() == CONTENT

        assert waits == [expected]

    @pytest.mark.parametrize(
        ("status", "message"),
        [(404, "There is no file at"), (410, "There is no file at"), (403, "refuses to send")],
    )
    @pytest.mark.usefixtures("waits")
    def test_a_refusal_is_final(self, tmp_path: Path, status: int, message: str) -> None:
        with (
            LoopbackServer(lambda _: Reply(status)) as server,
            pytest.raises(CollectionError, match=message) as error,
        ):
            self.fetch(server, tmp_path)

        assert f"{server.address}/arquivos/norma.csv ({status}" in str(error.value)
        assert len(server.requests) == 1
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.parametrize(
        ("content_type", "body"),
        [
            ("text/html; charset=utf-8", b"<html>\n  <title>Manuten\xc3\xa7\xc3\xa3o</title>"),
            ("application/json", b'{"error": "x"}'),
        ],
    )
    def test_a_wrong_content_type(self, tmp_path: Path, content_type: str, body: bytes) -> None:
        with (
            LoopbackServer(FileSite(body, content_type=content_type)) as server,
            pytest.raises(CollectionError) as error,
        ):
            self.fetch(server, tmp_path)

        assert repr(content_type) in str(error.value)
        assert repr(" ".join(body.decode().split())) in str(error.value)
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.parametrize(
        "content_type", ["", "TEXT/CSV;charset=ISO-8859-1", "application/octet-stream"]
    )
    def test_the_types_servers_give_to_csv_files(self, tmp_path: Path, content_type: str) -> None:
        with LoopbackServer(FileSite(CONTENT, content_type=content_type)) as server:
            assert self.fetch(server, tmp_path).path.read_bytes() == CONTENT

    def test_an_empty_body(self, tmp_path: Path) -> None:
        with (
            LoopbackServer(FileSite(b"")) as server,
            pytest.raises(CollectionError, match="is empty"),
        ):
            self.fetch(server, tmp_path)

        assert list(tmp_path.iterdir()) == []

    def test_a_body_compressed_unasked_is_unpacked_and_never_continued(
        self, tmp_path: Path, waits: list[float]
    ) -> None:
        packed = gzip.compress(CONTENT)
        headers = {"ETag": '"v1"', "Content-Type": "text/csv", "Content-Encoding": "gzip"}
        cuts = [len(packed) // 2, None]
        with LoopbackServer(lambda _: Reply(200, packed, headers, cuts.pop(0))) as server:
            assert self.fetch(server, tmp_path).path.read_bytes() == CONTENT

        assert self.ranges(server) == ["", ""]
        assert waits == [1]

    def test_a_part_that_ends_early_is_continued(self, tmp_path: Path, waits: list[float]) -> None:
        headers = {"ETag": '"v1"', "Content-Range": f"bytes 300000-300009/{len(CONTENT)}"}
        odd = [Reply(206, CONTENT[300_000:300_010], headers)]
        site = FileSite(CONTENT, cuts=[300_000])
        with LoopbackServer(site) as server:
            with pytest.raises(CollectionError):
                self.fetch(server, tmp_path, attempts=1)
            server.site = lambda request: odd.pop() if odd else site(request)
            assert self.fetch(server, tmp_path).path.read_bytes() == CONTENT

        assert self.ranges(server) == ["", "bytes=300000-", "bytes=300010-"]
        assert waits == [1]

    def test_a_redirection_is_followed(self, tmp_path: Path) -> None:
        site = FileSite(CONTENT)
        moved = Reply(301, headers={"Location": "/neu/norma.csv"})
        with LoopbackServer(lambda r: site(r) if "neu" in r.path else moved) as server:
            assert self.fetch(server, tmp_path).path.read_bytes() == CONTENT

    @pytest.mark.usefixtures("waits")
    def test_keys_in_the_address_are_not_shown(
        self, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        caplog.set_level(logging.INFO, "normastcu")
        with LoopbackServer(FileSite(CONTENT, cuts=[10])) as server:
            secret = server.address.replace("//", "//me:s3cret@") + "/norma.csv?key=s3cret"
            source = OpenDataSource(url=secret, cache_dir=str(tmp_path))
            found = fetch(
                SourceSettings(kind="open_data", open_data=source), DOCUMENTS, wait=time.sleep
            )

        ours = [one.getMessage() for one in caplog.records if one.name.startswith("normastcu")]
        assert "key=s3cret" in server.requests[0].path
        assert "s3cret" not in "".join(ours) + repr(found)
        assert "s3cret" not in (tmp_path / "norma.csv.json").read_text(encoding="utf-8")

    def test_only_documents_are_there(self, tmp_path: Path) -> None:
        with LoopbackServer(FileSite(CONTENT)) as server:
            settings = self.settings(server, tmp_path)
            assert fetch_optional(settings, ["query.csv"]) is None
            with pytest.raises(CollectionError, match=r"documents only, no query\.csv"):
                fetch(settings, ["query.csv"])

        assert server.requests == []

    def test_a_directory_for_downloads_is_needed(self) -> None:
        with pytest.raises(CollectionError, match=r"source\.open_data\.cache_dir"):
            fetch(SourceSettings(kind="open_data"), DOCUMENTS)


class TestHub:
    @pytest.fixture
    def site(self) -> HubSite:
        return HubSite(
            "court/acts",
            branches={"main": OLD},
            files={
                OLD: {"docs.csv": CONTENT, "query.csv": b"old"},
                NEW: {"docs.csv": b"new", "query.csv": b"new"},
            },
        )

    def settings(
        self,
        server: LoopbackServer,
        cache: Path,
        repo_id: str = "court/acts",
        revision: str = "main",
    ) -> SourceSettings:
        return SourceSettings(
            kind="hub",
            hub=HubSource(
                repo_id=repo_id, revision=revision, endpoint=server.address, cache_dir=str(cache)
            ),
        )

    def test_download(self, site: HubSite, tmp_path: Path) -> None:
        with LoopbackServer(site) as server:
            found = fetch(self.settings(server, tmp_path), DOCUMENTS)

        assert found.path.read_bytes() == CONTENT
        assert found.path.is_relative_to(tmp_path)
        assert found.name == f"court/acts/docs.csv@{OLD}"
        assert found.provenance.kind == "hub"
        assert found.provenance.location == "court/acts/docs.csv"
        assert found.provenance.revision == OLD
        assert found.provenance.sha256 == SHA256
        assert found.provenance.size == len(CONTENT)

    def test_names_are_tried_in_order(self, site: HubSite, tmp_path: Path) -> None:
        site.files[OLD] = {"doc.csv": CONTENT}
        with LoopbackServer(site) as server:
            assert fetch(self.settings(server, tmp_path), DOCUMENTS).path.name == "doc.csv"

        assert [one.path.rpartition("/")[2] for one in server.asked("HEAD")] == list(DOCUMENTS)

    def test_no_such_file(self, site: HubSite, tmp_path: Path) -> None:
        with LoopbackServer(site) as server:
            settings = self.settings(server, tmp_path)
            assert fetch_optional(settings, ["a.csv", "b.csv"]) is None
            with pytest.raises(CollectionError) as error:
                fetch(settings, ["a.csv", "b.csv"])

        assert "court/acts (revision main) has no file a.csv or b.csv" in str(error.value)

    def test_all_files_are_of_one_commit(self, site: HubSite, tmp_path: Path) -> None:
        with LoopbackServer(site) as server:
            settings = self.settings(server, tmp_path)
            fetch(settings, DOCUMENTS)
            site.branches["main"] = NEW
            found = fetch(settings, ["query.csv"])

        assert found.path.read_bytes() == b"old"
        assert len(server.asked("GET", "/api/")) == 1

    def test_the_next_process_takes_the_next_commit(self, site: HubSite, tmp_path: Path) -> None:
        with LoopbackServer(site) as server:
            settings = self.settings(server, tmp_path)
            fetch(settings, DOCUMENTS)
            site.branches["main"] = NEW
            hub._resolve.cache_clear()
            found = fetch(settings, DOCUMENTS)

        assert found.path.read_bytes() == b"new"
        assert found.provenance.revision == NEW

    def test_a_cached_file_is_not_downloaded_again(self, site: HubSite, tmp_path: Path) -> None:
        with LoopbackServer(site) as server:
            settings = self.settings(server, tmp_path)
            first = fetch(settings, DOCUMENTS)
            hub._resolve.cache_clear()
            assert fetch(settings, DOCUMENTS) == first

        assert len(server.asked("GET", "/store/")) == 1

    def test_a_commit_as_revision_needs_no_network_once_cached(
        self, site: HubSite, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        with LoopbackServer(site) as server:
            settings = self.settings(server, tmp_path, revision=NEW)
            first = fetch(settings, DOCUMENTS)
        asked = len(server.requests)
        hub._resolve.cache_clear()

        assert first.path.read_bytes() == b"new"
        assert fetch(settings, DOCUMENTS) == first
        assert len(server.requests) == asked
        assert not [one for one in caplog.records if one.levelno >= logging.WARNING]

    def test_without_network_the_cache_is_used_with_a_warning(
        self, site: HubSite, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        with LoopbackServer(site) as server:
            settings = self.settings(server, tmp_path)
            first = fetch(settings, DOCUMENTS)
        hub._resolve.cache_clear()

        assert fetch(settings, DOCUMENTS) == first
        assert f"The commit used last is taken from the cache: {OLD}" in caplog.text
        with pytest.raises(CollectionError, match=rf"{OLD} of the data set .* has no query\.csv"):
            fetch_optional(settings, ["query.csv"])

    def test_a_commit_without_the_file_leaves_the_earlier_one_in_use(
        self, site: HubSite, tmp_path: Path
    ) -> None:
        with LoopbackServer(site) as server:
            settings = self.settings(server, tmp_path)
            first = fetch(settings, DOCUMENTS)
            site.branches["main"] = NEW
            del site.files[NEW]["docs.csv"]
            hub._resolve.cache_clear()
            assert fetch_optional(settings, DOCUMENTS) is None
        hub._resolve.cache_clear()

        assert fetch(settings, DOCUMENTS) == first

    @pytest.mark.usefixtures("waits")
    def test_a_failed_update_leaves_the_earlier_commit_in_use(
        self, site: HubSite, tmp_path: Path
    ) -> None:
        with LoopbackServer(site) as server:
            settings = self.settings(server, tmp_path)
            first = fetch(settings, DOCUMENTS)
            site.branches["main"] = NEW
            site.access = Reply(403)
            hub._resolve.cache_clear()
            with pytest.raises(CollectionError):
                fetch(settings, DOCUMENTS)
        hub._resolve.cache_clear()

        assert fetch(settings, DOCUMENTS) == first

    @pytest.mark.parametrize(
        "info",
        [
            Reply(503),
            Reply(200, b"<html>Login</html>", {"Content-Type": "text/html"}),
            Reply(200, b"[]", {"Content-Type": "application/json"}),
            Reply(200, b'{"id": "court/acts"}', {"Content-Type": "application/json"}),
        ],
        ids=["down", "page", "list", "no-commit"],
    )
    def test_an_answer_that_is_not_the_hubs(
        self, site: HubSite, tmp_path: Path, info: Reply, caplog: pytest.LogCaptureFixture
    ) -> None:
        with LoopbackServer(site) as server:
            settings = self.settings(server, tmp_path)
            site.info = info
            with pytest.raises(CollectionError, match="HF_ENDPOINT"):
                fetch(settings, DOCUMENTS)
            site.info = None
            first = fetch(settings, DOCUMENTS)
            site.info = info
            hub._resolve.cache_clear()
            assert fetch(settings, DOCUMENTS) == first

        assert OLD in caplog.text

    def test_without_network_and_cache(self, site: HubSite, tmp_path: Path) -> None:
        with LoopbackServer(site) as server:
            pass
        with pytest.raises(CollectionError) as error:
            fetch(self.settings(server, tmp_path), DOCUMENTS)

        assert server.address in str(error.value)
        assert "set HF_ENDPOINT" in str(error.value)
        assert "source `files`" in str(error.value)

    @pytest.mark.parametrize(
        ("repo_id", "revision", "message"),
        [
            ("court/nothing", "main", "does not exist, or it is private"),
            ("court/acts", "v9", "no such revision"),
            ("not/a/name", "main", "is not the name of a data set"),
        ],
    )
    def test_an_unknown_place(
        self, site: HubSite, tmp_path: Path, repo_id: str, revision: str, message: str
    ) -> None:
        with (
            LoopbackServer(site) as server,
            pytest.raises(CollectionError, match=message) as error,
        ):
            fetch(self.settings(server, tmp_path, repo_id, revision), DOCUMENTS)

        assert repo_id in str(error.value)

    def test_an_unknown_commit(self, site: HubSite, tmp_path: Path) -> None:
        with (
            LoopbackServer(site) as server,
            pytest.raises(CollectionError, match="no such revision"),
        ):
            fetch(self.settings(server, tmp_path, revision="f" * 40), DOCUMENTS)

    @pytest.mark.parametrize(
        ("access", "message"),
        [
            (Reply(403, headers={"X-Error-Code": "GatedRepo"}), r"asked for on its page.*403"),
            (Reply(401), r"refuses access.*401"),
            (Reply(403), r"refuses access.*403"),
            (Reply(418), r"does not send it.*418"),
        ],
        ids=["gated", "401", "403", "other"],
    )
    def test_a_refusal(self, site: HubSite, tmp_path: Path, access: Reply, message: str) -> None:
        site.access = access
        with LoopbackServer(site) as server, pytest.raises(CollectionError, match=message):
            fetch(self.settings(server, tmp_path), DOCUMENTS)

    @pytest.mark.usefixtures("waits")
    def test_a_cut_download_goes_on_where_it_stopped(
        self,
        site: HubSite,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        monkeypatch.setattr(huggingface_hub.constants, "DOWNLOAD_CHUNK_SIZE", 100_000)
        site.cuts = [300_000]
        with LoopbackServer(site) as server:
            found = fetch(self.settings(server, tmp_path), DOCUMENTS)

        assert found.provenance.sha256 == SHA256
        ranges = [request.header("Range") for request in server.asked("GET", "/store/")]
        assert ranges == ["", "bytes=300000-"]

    @pytest.mark.usefixtures("waits")
    def test_a_reset_download_is_started_again(self, site: HubSite, tmp_path: Path) -> None:
        site.cuts, site.reset = [300_000], True
        with LoopbackServer(site) as server:
            found = fetch(self.settings(server, tmp_path), DOCUMENTS, wait=time.sleep)

        assert found.provenance.sha256 == SHA256

    @pytest.mark.usefixtures("waits")
    def test_cut_every_time(self, site: HubSite, tmp_path: Path) -> None:
        site.cuts = [0] * 100
        with (
            LoopbackServer(site) as server,
            pytest.raises(CollectionError, match=r"Given up on docs\.csv after 3 attempts"),
        ):
            fetch(self.settings(server, tmp_path), DOCUMENTS, wait=time.sleep)

        assert not list(tmp_path.rglob("docs.csv"))
        assert not list(tmp_path.rglob("*.incomplete"))

    @pytest.mark.usefixtures("waits")
    def test_a_store_in_trouble(self, site: HubSite, tmp_path: Path) -> None:
        def trouble(request: object) -> Reply:
            return Reply(503) if "/store/" in getattr(request, "path", "") else site(request)

        with (
            LoopbackServer(trouble) as server,
            pytest.raises(CollectionError, match=r"status 503.*after 3 attempts"),
        ):
            fetch(self.settings(server, tmp_path), DOCUMENTS, wait=time.sleep)

    def test_a_full_disk_is_not_tried_again(
        self, site: HubSite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def fail(*_: object, **__: object) -> str:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(hub, "hf_hub_download", fail)
        with LoopbackServer(site) as server, pytest.raises(CollectionError, match="No space left"):
            fetch(self.settings(server, tmp_path), DOCUMENTS)

    def test_a_token_is_sent_but_never_shown(
        self,
        site: HubSite,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        caplog: pytest.LogCaptureFixture,
    ) -> None:
        caplog.set_level(logging.DEBUG)
        monkeypatch.setenv("HF_TOKEN", TOKEN)
        with LoopbackServer(site) as server:
            found = fetch(self.settings(server, tmp_path), DOCUMENTS)
            site.access = Reply(403)
            with pytest.raises(CollectionError) as error:
                fetch(self.settings(server, tmp_path), ["query.csv"])

        assert server.asked("GET", "/api/")[0].header("Authorization") == f"Bearer {TOKEN}"
        assert all(not one.header("Authorization") for one in server.asked("GET", "/store/"))
        assert TOKEN not in caplog.text + str(error.value) + repr(found)

    def test_the_environment_names_the_hub_and_a_terminal_shows_a_bar(
        self, site: HubSite, tmp_path: Path
    ) -> None:
        program = (
            "import sys\n"
            "from normastcu.collection.sources import *\n"
            "hub = HubSource(repo_id='court/acts', cache_dir=sys.argv[1])\n"
            "print(fetch(SourceSettings(kind='hub', hub=hub), ['docs.csv']).name)\n"
        )
        main, terminal = os.openpty()
        termios.tcsetwinsize(terminal, (24, 100))
        with LoopbackServer(site) as server:
            environment = {
                name: value for name, value in os.environ.items() if not name.startswith("HF_")
            }
            done = subprocess.run(
                [sys.executable, "-c", program, str(tmp_path)],
                env=environment
                | {"HF_ENDPOINT": server.address, "PYTHONPATH": os.pathsep.join(sys.path)},
                stdout=subprocess.PIPE,
                stderr=terminal,
                text=True,
                check=False,
                timeout=60,
            )
        os.close(terminal)
        shown = _read_terminal(main)

        assert done.stdout == f"court/acts/docs.csv@{OLD}\n", shown
        assert "docs.csv: 100%" in shown
