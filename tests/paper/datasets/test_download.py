import bz2
import dataclasses
import errno
import hashlib
import os
import subprocess
import sys
import threading
import time
import zipfile
from collections import namedtuple
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace

import pytest

from mbauc.errors import DownloadError, NotAvailableError
from mbauc.paper.datasets import download as downloads
from mbauc.paper.datasets import find
from mbauc.paper.datasets.download import download
from mbauc.paper.datasets.entry import File

pytest.importorskip("pooch")

TEXT = b"+1 1:1\n-1 2:1\n" * 20_000


class Server(ThreadingHTTPServer):
    """Answers each request as the next of ``answers`` says, and as the last one from then on."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.requests, self.answers, self.release = [], [{}], threading.Event()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}"

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
        content=TEXT,
        length=True,
        too_many=0,
        stop=None,
        stall=False,
        kind="application/octet-stream",
        paths=None,
        words=None,
        location=None,
    ):
        if paths is not None and self.path not in paths:
            status = 404
        body = content if status == 200 else b""
        self.send_response(status, words)
        self.send_header("Content-Type", kind)
        if location:
            self.send_header("Location", location)
        if length:
            self.send_header("Content-Length", str(len(body) + too_many))
        self.end_headers()
        self.wfile.write(body[:stop])
        self.wfile.flush()
        if stall:
            self.server.release.wait(20)


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.setattr(downloads, "SCHEMES", ("http://", "https://"))
    monkeypatch.setattr("pooch.core.time", SimpleNamespace(sleep=lambda _: None))  # no pauses between attempts
    with Server() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        yield server
        server.release.set()
        server.shutdown()
        thread.join()


def made_up(server, *names, **more):
    """An entry whose files lie on the server under these names."""
    files = tuple(File(name.removesuffix(".bz2"), (f"{server.url}/{name}",), **more) for name in names)
    return dataclasses.replace(find("a1a"), train=files[:1], test=files[1:])


def sha256(content):
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def left(folder):
    """Names in the folder."""
    return sorted(path.name for path in folder.iterdir())


# -- what comes ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("packed", [False, True])
def test_files_come_once_and_are_verified_by_their_uncompressed_content(packed, server, tmp_path):
    content, ending = (bz2.compress(TEXT), ".bz2") if packed else (TEXT, "")
    server.answers = [{"content": content}]
    entry = made_up(server, f"x{ending}", f"x.t{ending}", checksum=sha256(TEXT))
    folder = tmp_path / "new"
    expected = {name: folder / f"{name}{ending}" for name in ("x", "x.t")}
    assert download(entry, folder) == expected
    assert all(path.read_bytes() == content for path in expected.values())
    assert left(folder) == sorted(path.name for path in expected.values())
    assert download(entry, folder) == expected
    assert len(server.requests) == 2


def test_a_file_without_a_length_comes_too(server, tmp_path):
    server.answers = [{"length": False}]
    path = download(made_up(server, "x", checksum=sha256(TEXT)), tmp_path)["x"]
    assert path.read_bytes() == TEXT


def test_a_known_copy_will_do_but_an_unknown_one_is_not_replaced_unless_forced(server, tmp_path):
    entry = made_up(server, "x", checksum=sha256(TEXT), copies=(sha256(b"copy"),))
    (tmp_path / "x.bz2").write_bytes(bz2.compress(b"copy"))
    assert download(entry, tmp_path) == {"x": tmp_path / "x.bz2"}
    (tmp_path / "x.bz2").write_bytes(bz2.compress(b"mine"))
    with pytest.raises(DownloadError, match=r"x.bz2 is there already, but is not the official file.* --force"):
        download(entry, tmp_path)
    assert server.requests == []
    assert download(entry, tmp_path, force=True) == {"x": tmp_path / "x"}
    assert left(tmp_path) == ["x"]


def test_the_next_address_is_tried_if_the_first_has_nothing(server, tmp_path):
    server.answers = [{"content": bz2.compress(TEXT), "paths": ["/y.bz2"]}]
    file = File("y", (f"{server.url}/y.xz", f"{server.url}/y.bz2"))
    entry = dataclasses.replace(find("a1a"), train=(file,), test=())
    assert download(entry, tmp_path) == {"y": tmp_path / "y.bz2"}
    assert left(tmp_path) == ["y.bz2"]
    server.answers = [{"status": 404}]
    with pytest.raises(DownloadError, match=r"y.bz2: the server has no such file"):
        download(entry, tmp_path, force=True)


def test_archives_keep_their_name_and_may_have_to_be_unpacked_by_hand(server, tmp_path):
    file = File("set.zip", (f"{server.url}/other.zip",), members=("in/table.csv",), hint="Unpack it.")
    with zipfile.ZipFile(tmp_path / "made.zip", "w") as packed:
        packed.writestr("table.rar", b"?")
    server.answers = [{"content": (tmp_path / "made.zip").read_bytes()}]
    entry = dataclasses.replace(find("bank"), train=(file,))
    folder = tmp_path / "data"
    assert download(entry, folder) == {"set.zip": folder / "set.zip"}
    assert download(entry, folder) == {"set.zip": folder / "set.zip"}
    assert len(server.requests) == 1
    without_hint = dataclasses.replace(entry, train=(dataclasses.replace(file, hint=""),))
    with pytest.raises(DownloadError, match="Nothing was kept"):
        download(without_hint, tmp_path / "more")
    assert left(tmp_path / "more") == []


def test_the_bar_counts_the_bytes_of_the_last_attempt():
    seen = []

    class Spy:
        def __call__(self, done):
            seen.append(done)

        def expect(self, total):
            self.total = total

    spy = Spy()
    bar = downloads._Bar(spy)
    for attempt in (100, 150):  # as pooch drives it
        bar.total = attempt
        for _ in range(2):
            bar.update(64)
    bar.reset()
    bar.update(150)
    bar.close()
    assert (sum(seen), spy.total) == (150, 150)


# -- what fails ---------------------------------------------------------------------------------------------


def test_a_broken_transfer_is_tried_again_from_the_start(server, tmp_path):
    server.answers = [{"stop": 1000}, {"status": 503}, {}]
    path = download(made_up(server, "x"), tmp_path)["x"]
    assert path.read_bytes() == TEXT
    assert len(server.requests) == 3
    assert left(tmp_path) == ["x"]


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ({"stop": 1000}, "broke off"),
        ({"too_many": 500}, "broke off"),
        ({"status": 503}, "answered 503 Service Unavailable"),
    ],
)
def test_a_server_that_always_fails_is_given_up_and_nothing_is_kept(answer, says, server, tmp_path):
    server.answers = [answer]
    with pytest.raises(DownloadError, match=rf"/x: .*{says}.*Tried 4 times, nothing was kept"):
        download(made_up(server, "x"), tmp_path)
    assert len(server.requests) == 4
    assert left(tmp_path) == []


def test_a_server_that_stalls_is_left(server, tmp_path, monkeypatch):
    monkeypatch.setattr(downloads, "TIMEOUT", 0.2)
    server.answers = [{"stop": 1000, "stall": True}, {}]
    assert download(made_up(server, "x"), tmp_path)["x"].read_bytes() == TEXT


@pytest.mark.parametrize("content", [b"something else", TEXT[:-1]])
def test_a_wrong_checksum_keeps_nothing_and_leaves_what_was_there(content, server, tmp_path):
    (tmp_path / "x").write_text("before")
    server.answers = [{"content": content}]
    with pytest.raises(DownloadError, match=r"not the official file: its checksum differs.* Nothing was kept"):
        download(made_up(server, "x", checksum=sha256(TEXT)), tmp_path, force=True)
    assert left(tmp_path) == ["x"]
    assert (tmp_path / "x").read_text() == "before"


@pytest.mark.parametrize("name", ["z.bz2", "z.gz", "z.xz"])
def test_a_compressed_file_without_a_checksum_on_record_must_be_readable_to_its_end(name, server, tmp_path):
    entry = dataclasses.replace(find("a1a"), train=(File("z", (f"{server.url}/{name}",)),), test=())
    server.answers = [{"content": bz2.compress(TEXT)[:-20]}]
    with pytest.raises(DownloadError, match="Nothing was kept"):
        download(entry, tmp_path)
    assert left(tmp_path) == []


@pytest.mark.parametrize(
    ("status", "says"),
    [(404, "no such file"), (410, "no such file"), (403, "the server refused"), (401, "refused")],
)
def test_refusals_are_final(status, says, server, tmp_path):
    server.answers = [{"status": status}]
    (tmp_path / "x").write_bytes(b"mine")
    with pytest.raises(DownloadError, match=rf"{server.url}/x: .*{says} \({status}") as caught:
        download(made_up(server, "x"), tmp_path, force=True)
    assert caught.value.status == status
    assert len(server.requests) == 1
    assert left(tmp_path) == ["x"]


def test_a_web_page_is_not_taken_for_the_file(server, tmp_path):
    server.answers = [{"kind": "text/html; charset=utf-8"}]
    with pytest.raises(DownloadError, match="sent a web page instead"):
        download(made_up(server, "x"), tmp_path)
    assert left(tmp_path) == []


def test_no_server(server, tmp_path):
    with Server() as closed:
        gone = made_up(closed, "x")
    with pytest.raises(DownloadError, match="the connection failed; is there a network"):
        download(gone, tmp_path)
    assert left(tmp_path) == []


def test_a_disk_that_is_too_small_is_noticed_first(server, tmp_path, monkeypatch):
    usage = namedtuple("usage", "free")
    monkeypatch.setattr(downloads.shutil, "disk_usage", lambda _: usage(1000))
    with pytest.raises(DownloadError, match=r"280,000 bytes are to come, but .* has room for 1,000"):
        download(made_up(server, "x"), tmp_path)
    assert left(tmp_path) == []


def test_a_disk_that_fills_up_is_told(server, tmp_path, monkeypatch):
    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("pooch.HTTPDownloader.__call__", full)
    with pytest.raises(DownloadError, match="cannot write the file: No space left on device"):
        download(made_up(server, "x"), tmp_path)
    assert left(tmp_path) == []


def test_what_is_not_offered_and_where_nothing_can_be_written(tmp_path, server):
    with pytest.raises(NotAvailableError, match=r"svmguide3.author is not offered for download; see https"):
        download(find("svmguide3.author"), tmp_path)
    (tmp_path / "blocker").touch()
    with pytest.raises(DownloadError, match="cannot make the folder"):
        download(made_up(server, "x"), tmp_path / "blocker" / "data")


def test_a_missing_pooch_names_the_extra(server, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(ImportError, match=r"pip install 'mbauc\[datasets\]'"):
        download(made_up(server, "x"), tmp_path)
    assert left(tmp_path) == []


@pytest.mark.skipif(os.name == "nt", reason="nothing is removed where files cannot be locked")
def test_what_a_killed_download_leaves_goes_with_the_next(server, tmp_path):
    server.answers = [{"stop": 1000, "stall": True}, {}]
    code = (
        "import dataclasses, sys; from mbauc.paper.datasets import download as d, find;"
        "d.SCHEMES = ('http://',); file = d.File('x', (sys.argv[1],));"
        "d.download(dataclasses.replace(find('a1a'), train=(file,), test=()), sys.argv[2])"
    )
    process = subprocess.Popen([sys.executable, "-c", code, f"{server.url}/x", str(tmp_path)])
    try:
        for _ in range(3000):
            if server.requests:
                break
            time.sleep(0.01)
    finally:
        process.kill()
        process.wait()
    assert [name.startswith(".mbauc-download-") for name in left(tmp_path)] == [True]
    with downloads._make_room(tmp_path) as room:  # somebody else is at work
        download(made_up(server, "x"), tmp_path)
        assert left(tmp_path) == [room.name, "x"]


# -- servers that mean no good -------------------------------------------------------------------------------


def test_words_of_a_server_do_not_reach_the_terminal_as_they_are(server, tmp_path):
    server.answers = [{"status": 403, "words": "\x1b[31mred\x07" + 1000 * "!"}]
    with pytest.raises(DownloadError, match=r"the server refused \(403 \?\[31mred\?!+\)") as told:
        download(made_up(server, "x"), tmp_path)
    assert str(told.value).isprintable()
    assert len(str(told.value)) < 400


@pytest.mark.parametrize("place", ["http://127.0.0.1/x", "ftp://127.0.0.1/x", "file:///etc/passwd", "//[x"])
def test_only_https_is_followed(server, tmp_path, monkeypatch, place):
    # the server itself stands for an address with https
    monkeypatch.setattr(downloads, "SCHEMES", (server.url, "https://"))
    server.answers = [{"status": 302, "location": place}]
    with pytest.raises(DownloadError, match=r"not as safe\. Not followed"):
        download(made_up(server, "x"), tmp_path)
    assert len(server.requests) == 1
    assert left(tmp_path) == []


def test_a_safe_redirect_is_followed(server, tmp_path):
    server.answers = [{"status": 302, "location": "/elsewhere"}, {}]
    assert download(made_up(server, "x"), tmp_path)["x"].read_bytes() == TEXT


@pytest.mark.parametrize("url", ["http://host/file", "file:///etc/hosts", "ftp://host/file", "a9a"])
def test_only_https_is_asked(url, tmp_path):
    entry = dataclasses.replace(find("a1a"), train=(File("x", (url,)),), test=())
    with pytest.raises(ValueError, match="url must start with https://, got"):
        download(entry, tmp_path)
