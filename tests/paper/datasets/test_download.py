import bz2
import dataclasses
import errno
import hashlib
import io
import subprocess
import sys
import threading
import time
import urllib.request
import zipfile
from collections import namedtuple
from contextlib import nullcontext
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from mbauc.errors import DownloadError, NotAvailableError
from mbauc.paper.datasets import find
from mbauc.paper.datasets import part_file as part_files
from mbauc.paper.datasets.doubtful_servers import NoWeakerProtocol
from mbauc.paper.datasets.download import Patience, download, fetch
from mbauc.paper.datasets.entry import File
from mbauc.paper.datasets.part_file import PartFile, part_of

CONTENT = bytes(range(256)) * 2000
HALF = len(CONTENT) // 2
QUICK = Patience(timeout=5.0, retries=2, pause=0.001)
HASTY = QUICK._replace(timeout=0.2)


class Server(ThreadingHTTPServer):
    """Answers each request as the next of ``answers`` says, and as the last one from then on."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.requests, self.answers, self.release = [], [{}], threading.Event()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}/file"

    def handle_error(self, request, client_address):
        """Whoever was here has hung up; that is what is being tested."""


class Handler(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_GET(self):
        self.server.requests.append(self.headers)
        answers = self.server.answers
        self.answer(**(answers.pop(0) if len(answers) > 1 else answers[0]))

    def answer(
        self,
        status=200,
        content=CONTENT,
        tag='"one"',
        date=None,
        ranges=True,
        heeds_tag=True,
        sent_range=None,
        announced="Content-Length",
        too_many=0,
        stop=None,
        stall=False,
        kind="application/octet-stream",
        retry_after=None,
        paths=None,
        words=None,
        location=None,
    ):
        if paths is not None and self.path not in paths:
            status = 404
        asked = self.headers.get("Range")
        start = 0
        version = tag or date
        if status == 200 and asked and ranges and (not heeds_tag or self.headers["If-Range"] == version):
            start = int(asked.removeprefix("bytes=").removesuffix("-"))
            status = 206 if start < len(content) else 416
        body = content[start:] if status in (200, 206) else b""
        self.send_response(status, words)
        if location:
            self.send_header("Location", location)
        self.send_header("Content-Type", kind)
        if tag:
            self.send_header("ETag", tag)
        if date:
            self.send_header("Last-Modified", date)
        if retry_after:
            self.send_header("Retry-After", retry_after)
        if status == 206:
            self.send_header("Content-Range", sent_range or f"bytes {start}-{len(content) - 1}/{len(content)}")
        if status == 416:
            self.send_header("Content-Range", f"bytes */{len(content)}")
        if announced:
            self.send_header(announced, str(len(body) + (too_many if status == 200 else 0)))
        self.end_headers()
        self.wfile.write(body[:stop])
        self.wfile.flush()
        if stall:
            self.server.release.wait(20)


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("no_proxy", "*")
    with Server() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        yield server
        server.release.set()
        server.shutdown()
        thread.join()


@pytest.fixture
def target(tmp_path):
    return tmp_path / "file"


def is_content(path):
    return path.read_bytes() == CONTENT


def left(target):
    """Names in the folder."""
    return sorted(path.name for path in target.parent.iterdir())


def asked(server):
    return [request.get("Range") for request in server.requests]


def test_a_file_comes_whole_and_alone(server, target):
    download(server.url, target, verify=is_content, patience=QUICK)
    assert is_content(target)
    assert left(target) == ["file"]
    assert asked(server) == [None]


def test_a_broken_transfer_goes_on_where_it_broke_off(server, target):
    server.answers = [{"stop": 1000}, {"stop": 3000}, {}]
    download(server.url, target, patience=QUICK)
    assert is_content(target)
    assert asked(server) == [None, "bytes=1000-", "bytes=4000-"]
    assert server.requests[1]["If-Range"] == '"one"'
    assert left(target) == ["file"]


def test_progress_renews_patience(server, target):
    server.answers = [*({"stop": 100} for _ in range(10)), {}]
    download(server.url, target, patience=QUICK)
    assert is_content(target)


def test_what_has_come_is_kept_for_the_next_call(server, target):
    server.answers = [{"stop": HALF}, {"status": 503}]
    with pytest.raises(
        DownloadError, match=r"503 Service Unavailable\. Tried 3 times\. 256,000 bytes are kept"
    ):
        download(server.url, target, patience=QUICK)
    assert not target.exists()
    server.answers, server.requests = [{}], []
    download(server.url, target, patience=QUICK)
    assert is_content(target)
    assert asked(server) == [f"bytes={HALF}-"]
    assert left(target) == ["file"]


def test_a_killed_download_resumes(server, target):
    server.answers = [{"stop": HALF, "stall": True}, {}]
    code = "import sys; from mbauc.paper.datasets.download import download; download(*sys.argv[1:])"
    process = subprocess.Popen([sys.executable, "-c", code, server.url, str(target)])
    part = target.with_name("file.part")
    try:
        for _ in range(3000):
            if part.exists() and part.stat().st_size == HALF:
                break
            time.sleep(0.01)
    finally:
        process.kill()
        process.wait()
    assert part.stat().st_size == HALF
    assert not target.exists()
    download(server.url, target, patience=QUICK)
    assert is_content(target)
    assert asked(server) == [None, f"bytes={HALF}-"]


def test_a_server_that_ignores_ranges_sends_all_anew(server, target):
    server.answers = [{"stop": 1000, "ranges": False}, {"ranges": False}]
    download(server.url, target, verify=is_content, patience=QUICK)
    assert is_content(target)
    assert asked(server) == [None, "bytes=1000-"]


def test_a_server_that_ignores_ranges_and_always_breaks_off_is_given_up(server, target):
    server.answers = [{"stop": 1000, "ranges": False}]
    with pytest.raises(DownloadError, match="broke off after 1,000 of 512,000 bytes"):
        download(server.url, target, patience=QUICK)
    assert len(server.requests) == 3
    assert not target.exists()


def test_a_file_that_changed_in_between_is_not_mixed_with_the_old_one(server, target):
    server.answers = [{"stop": 1000, "tag": '"old"', "content": b"o" * len(CONTENT)}, {"tag": '"new"'}]
    download(server.url, target, patience=QUICK)
    assert is_content(target)


def test_a_server_that_does_not_heed_if_range_is_caught_by_the_tag(server, target):
    old = {"stop": 1000, "tag": '"old"', "content": b"o" * len(CONTENT)}
    server.answers = [old, {"tag": '"new"', "heeds_tag": False}, {"tag": '"new"'}]
    download(server.url, target, patience=QUICK)
    assert is_content(target)
    assert asked(server) == [None, "bytes=1000-", None]


def test_versions_that_met_unnoticed_are_downloaded_again(server, target):
    server.answers = [{"stop": 1000, "content": b"o" * len(CONTENT)}, {}]  # the same tag for both
    download(server.url, target, verify=is_content, patience=QUICK)
    assert is_content(target)
    assert asked(server) == [None, "bytes=1000-", None]


@pytest.mark.parametrize("sent_range", ["bytes 7-99/100", "bytes 1000-1999/500", "bytes 1000-", "nonsense"])
def test_a_rest_from_another_place_is_not_appended(sent_range, server, target):
    server.answers = [{"stop": 1000}, {"sent_range": sent_range}, {}]
    download(server.url, target, patience=QUICK)
    assert is_content(target)


def test_a_date_serves_where_there_is_no_strong_tag(server, target):
    date = "Wed, 21 Oct 2015 07:28:00 GMT"
    server.answers = [{"stop": 1000, "tag": None, "date": date}, {"tag": None, "date": date}]
    download(server.url, target, patience=QUICK)
    assert is_content(target)
    assert server.requests[1]["If-Range"] == date


@pytest.mark.parametrize("tag", [None, 'W/"weak"'])
def test_without_a_version_there_is_no_going_on(tag, server, target):
    server.answers = [{"stop": 1000, "tag": tag}, {"tag": tag}]
    download(server.url, target, patience=QUICK)
    assert is_content(target)
    assert asked(server) == [None, None]


@pytest.mark.parametrize(
    "note", [None, "", "[]", '{"url": "http://elsewhere", "version": "x"}', '{"version": 3}']
)
def test_a_part_without_a_note_that_fits_is_not_continued(note, server, target):
    target.with_name("file.part").write_bytes(b"what is this")
    if note is not None:
        target.with_name("file.part.json").write_text(note)
    download(server.url, target, patience=QUICK)
    assert is_content(target)
    assert asked(server) == [None]


def test_a_part_that_is_complete_already_only_gets_its_name(server, target):
    server.answers = [{"stop": len(CONTENT), "too_many": 1}, {"status": 503}]
    with pytest.raises(DownloadError):
        download(server.url, target, patience=QUICK)
    server.answers = [{}]
    download(server.url, target, patience=QUICK)
    assert is_content(target)


# -- lengths that are wrong --------------------------------------------------------------------------------


def test_a_length_that_is_too_large_is_found_out_by_a_range(server, target):
    server.answers = [{"too_many": 500}]
    download(server.url, target, patience=QUICK)
    assert is_content(target)
    assert asked(server) == [None, f"bytes={len(CONTENT)}-"]


def test_a_length_that_is_too_large_does_not_matter_if_the_checksum_is_right(server, target):
    server.answers = [{"too_many": 500, "ranges": False}]
    download(server.url, target, verify=is_content, patience=QUICK)
    assert is_content(target)


@pytest.mark.parametrize("verify", [None, lambda path: None, lambda path: False])
def test_a_length_that_is_too_large_is_an_error_if_nothing_vouches_for_the_content(verify, server, target):
    server.answers = [{"too_many": 500, "ranges": False}]
    with pytest.raises(DownloadError, match="512,000 of 512,500 bytes"):
        download(server.url, target, verify=verify, patience=QUICK)
    assert not target.exists()


def test_a_length_that_is_too_small_is_found_out_by_the_checksum(server, target):
    server.answers = [{"too_many": -500}]
    with pytest.raises(DownloadError, match="Nothing was kept"):
        download(server.url, target, verify=is_content, patience=QUICK)
    assert left(target) == []


def test_no_length_at_all(server, target):
    server.answers = [{"announced": None}]
    download(server.url, target, patience=QUICK)
    assert is_content(target)


def test_an_end_that_came_too_early_unannounced_is_tried_again(server, target):
    server.answers = [{"announced": None, "stop": 1000}, {"announced": None}]
    download(server.url, target, verify=is_content, patience=QUICK)
    assert is_content(target)


# -- failures ----------------------------------------------------------------------------------------------


def test_a_wrong_checksum_keeps_nothing_and_leaves_what_was_there(server, target):
    target.write_text("before")
    server.answers = [{"content": b"something else"}]
    with pytest.raises(DownloadError, match=r"not the official file: its checksum differs.* Nothing was kept"):
        download(server.url, target, verify=is_content, patience=QUICK)
    assert left(target) == ["file"]
    assert target.read_text() == "before"
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("status", "says"),
    [(404, "no such file"), (410, "no such file"), (403, "the server refused"), (401, "refused")],
)
def test_refusals_are_final(status, says, server, target):
    server.answers = [{"status": status}]
    with pytest.raises(DownloadError, match=rf"{server.url}: .*{says} \({status}") as caught:
        download(server.url, target, patience=QUICK)
    assert caught.value.status == status
    assert len(server.requests) == 1
    assert left(target) == []


def test_an_overloaded_server_is_asked_again_when_it_says(server, target, monkeypatch):
    pauses = []
    monkeypatch.setattr("mbauc.paper.datasets.download.time.sleep", pauses.append)
    server.answers = [{"status": 503, "retry_after": "7"}, {"status": 429, "retry_after": "later"}, {}]
    download(server.url, target, patience=Patience(retries=2, pause=1.0))
    assert is_content(target)
    assert pauses == [7.0, 2.0]


def test_a_server_that_stalls_is_left_and_asked_for_the_rest(server, target):
    server.answers = [{"stop": 1000, "stall": True}, {}]
    download(server.url, target, patience=HASTY)
    assert is_content(target)
    assert asked(server) == [None, "bytes=1000-"]


def test_a_server_that_always_stalls_is_given_up(server, target):
    server.answers = [{"stop": 0, "stall": True}]
    with pytest.raises(DownloadError, match=r"stopped answering\. Tried 3 times\.$"):
        download(server.url, target, patience=HASTY)
    assert left(target) == []


def test_a_web_page_is_not_taken_for_the_file(server, target):
    server.answers = [{"kind": "text/html; charset=utf-8"}]
    with pytest.raises(DownloadError, match="sent a web page instead"):
        download(server.url, target, patience=QUICK)
    assert left(target) == []


def test_no_server_and_no_network(target, monkeypatch):
    monkeypatch.setenv("no_proxy", "*")
    with Server() as closed:
        url = closed.url
    with pytest.raises(DownloadError, match="refused the connection"):
        download(url, target, patience=QUICK)
    with pytest.raises(DownloadError, match="was not found; is there a network connection"):
        download("http://no-such-host.invalid/file", target, patience=QUICK)
    assert left(target) == []


def test_a_disk_that_is_too_small_is_noticed_first(server, target, monkeypatch):
    usage = namedtuple("usage", "free")
    monkeypatch.setattr(part_files.shutil, "disk_usage", lambda _: usage(1000))
    with pytest.raises(DownloadError, match="512,000 more bytes are to come, but the disk has room for 1,000"):
        download(server.url, target, patience=QUICK)
    assert left(target) == []


def test_a_disk_that_fills_up_keeps_what_has_come(server, target, monkeypatch):
    write = PartFile.append

    def full(self, chunk):
        if self.size >= HALF:
            self._stream = FullDisk()
        write(self, chunk)

    monkeypatch.setattr(PartFile, "append", full)
    with pytest.raises(DownloadError, match="no room left on the disk"):
        download(server.url, target, patience=QUICK)
    assert target.with_name("file.part").stat().st_size >= HALF
    monkeypatch.setattr(PartFile, "append", write)
    download(server.url, target, patience=QUICK)
    assert is_content(target)
    assert asked(server)[1] is not None


class FullDisk:
    def write(self, _):
        raise OSError(errno.ENOSPC, "No space left on device")

    def seek(self, *_):
        return HALF


def test_one_process_at_a_time(server, target):
    pytest.importorskip("fcntl")
    with part_of(target), pytest.raises(DownloadError, match="being downloaded by another process"):
        download(server.url, target, patience=QUICK)


@pytest.mark.parametrize("url", ["file:///etc/hosts", "ftp://host/file", "a9a"])
def test_only_http(url, target):
    with pytest.raises(ValueError, match="url must start with https"):
        download(url, target)


def test_a_folder_that_is_not_there(server, target):
    with pytest.raises(DownloadError, match="cannot write"):
        download(server.url, target / "deeper", patience=QUICK)


def test_an_interrupted_download_keeps_what_has_come(server, target, monkeypatch):
    class Stopped(BaseException):
        pass

    write = PartFile.append

    def stopped(self, chunk):
        write(self, chunk)
        raise Stopped

    monkeypatch.setattr(PartFile, "append", stopped)
    with pytest.raises(Stopped):
        download(server.url, target, patience=QUICK)
    assert left(target) == ["file.part", "file.part.json"]


# -- data sets ---------------------------------------------------------------------------------------------

TEXT = b"+1 1:1\n-1 2:1\n" * 100


def made_up(server, *names, **more):
    """An entry whose files lie on the server under these names."""
    base = server.url.removesuffix("/file")
    files = tuple(File(name.split(".bz2")[0], (f"{base}/{name}",), **more) for name in names)
    return dataclasses.replace(find("a1a"), train=files[:1], test=files[1:])


def sha256(content):
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


@pytest.mark.parametrize("packed", [False, True])
def test_files_are_fetched_once_and_verified_by_their_uncompressed_content(packed, server, tmp_path):
    content, ending = (bz2.compress(TEXT), ".bz2") if packed else (TEXT, "")
    server.answers = [{"content": content}]
    entry = made_up(server, f"x{ending}", f"x.t{ending}", checksum=sha256(TEXT))
    expected = {name: tmp_path / "new" / f"{name}{ending}" for name in ("x", "x.t")}
    assert fetch(entry, tmp_path / "new", patience=QUICK) == expected
    assert all(path.read_bytes() == content for path in expected.values())
    assert fetch(entry, tmp_path / "new", patience=QUICK) == expected
    assert len(server.requests) == 2


def test_a_known_copy_will_do_but_an_unknown_one_is_not_replaced_unless_forced(server, tmp_path):
    server.answers = [{"content": TEXT}]
    entry = made_up(server, "x", checksum=sha256(TEXT), copies=(sha256(b"copy"),))
    (tmp_path / "x.bz2").write_bytes(bz2.compress(b"copy"))
    assert fetch(entry, tmp_path, patience=QUICK) == {"x": tmp_path / "x.bz2"}
    (tmp_path / "x.bz2").write_bytes(bz2.compress(b"mine"))
    with pytest.raises(DownloadError, match=r"x.bz2 is there already, but is not the official file.* --force"):
        fetch(entry, tmp_path, patience=QUICK)
    assert server.requests == []
    assert fetch(entry, tmp_path, force=True, patience=QUICK) == {"x": tmp_path / "x"}
    assert left(tmp_path / "x") == ["x"]


def test_a_forced_download_that_fails_leaves_the_file(server, tmp_path):
    server.answers = [{"status": 404}]
    (tmp_path / "x").write_bytes(b"mine")
    with pytest.raises(DownloadError):
        fetch(made_up(server, "x"), tmp_path, force=True, patience=QUICK)
    assert left(tmp_path / "x") == ["x"]


def test_the_next_address_is_tried_if_the_first_has_nothing(server, tmp_path):
    base = server.url.removesuffix("/file")
    server.answers = [{"content": bz2.compress(TEXT), "paths": ["/y.bz2"]}]
    entry = dataclasses.replace(find("a1a"), train=(File("y", (f"{base}/y.xz", f"{base}/y.bz2")),), test=())
    assert fetch(entry, tmp_path, patience=QUICK) == {"y": tmp_path / "y.bz2"}
    assert left(tmp_path / "y") == ["y.bz2"]
    server.answers = [{"status": 404}]
    with pytest.raises(DownloadError, match=r"y.bz2: the server has no such file"):
        fetch(entry, tmp_path, force=True, patience=QUICK)


@pytest.mark.parametrize("name", ["z.bz2", "z.gz", "z.xz"])
def test_a_compressed_file_without_a_checksum_on_record_must_be_readable_to_its_end(name, server, tmp_path):
    base = server.url.removesuffix("/file")
    entry = dataclasses.replace(find("a1a"), train=(File("z", (f"{base}/{name}",)),), test=())
    server.answers = [{"content": bz2.compress(TEXT)[:-20]}]
    with pytest.raises(DownloadError, match="Nothing was kept"):
        fetch(entry, tmp_path, patience=QUICK)
    assert left(tmp_path / "z") == []


def test_archives_keep_their_name_and_may_have_to_be_unpacked_by_hand(server, tmp_path):
    base = server.url.removesuffix("/file")
    file = File("set.zip", (f"{base}/other.zip",), members=("in/table.csv",), hint="Unpack it.")
    with zipfile.ZipFile(tmp_path / "made.zip", "w") as packed:
        packed.writestr("table.rar", b"?")
    server.answers = [{"content": (tmp_path / "made.zip").read_bytes()}]
    entry = dataclasses.replace(find("bank"), train=(file,))
    folder = tmp_path / "data"
    assert fetch(entry, folder, patience=QUICK) == {"set.zip": folder / "set.zip"}
    assert fetch(entry, folder, patience=QUICK) == {"set.zip": folder / "set.zip"}
    assert len(server.requests) == 1
    without_hint = dataclasses.replace(entry, train=(dataclasses.replace(file, hint=""),))
    with pytest.raises(DownloadError, match="Nothing was kept"):
        fetch(without_hint, tmp_path / "more", patience=QUICK)


def test_what_is_not_offered_and_where_nothing_can_be_written(tmp_path, server):
    with pytest.raises(NotAvailableError, match=r"svmguide3.author is not offered for download; see https"):
        fetch(find("svmguide3.author"), tmp_path)
    (tmp_path / "blocker").touch()
    with pytest.raises(DownloadError, match="cannot make the folder"):
        fetch(made_up(server, "x"), tmp_path / "blocker" / "data", patience=QUICK)


# -- servers that mean no good -----------------------------------------------------------------------------


def test_words_of_a_server_do_not_reach_the_terminal_as_they_are(server, tmp_path):
    server.answers = [{"status": 403, "words": "\x1b[31mred\x07" + 1000 * "!"}]
    with pytest.raises(DownloadError, match=r"the server refused \(403 \?\[31mred\?!+\)") as told:
        download(server.url, tmp_path / "x", patience=QUICK)
    assert str(told.value).isprintable()
    assert len(str(told.value)) < 400


@pytest.mark.parametrize("place", ["ftp://127.0.0.1/file", "file:///etc/passwd"])
def test_no_other_protocol_is_followed(server, tmp_path, place):
    server.answers = [{"status": 302, "location": place}]
    with pytest.raises(DownloadError, match=r"not as safe\. Not followed|refused"):
        download(server.url, tmp_path / "x", patience=QUICK)
    assert len(server.requests) == 1
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("old", "new", "followed"),
    [("https", "https", True), ("http", "https", True), ("http", "http", True), ("https", "http", False)],
)
def test_https_is_never_left(old, new, followed):
    request = urllib.request.Request(f"{old}://127.0.0.1/file")
    arguments = request, io.BytesIO(), 302, "Found", {}, f"{new}://127.0.0.1/other"
    with nullcontext() if followed else pytest.raises(DownloadError, match=r"https://127.* not as safe"):
        assert NoWeakerProtocol().redirect_request(*arguments).full_url == arguments[-1]
