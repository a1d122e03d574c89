"""What a server says and where it points to, as far as that is harmless."""

from __future__ import annotations

import email.message
import re
import urllib.request
from typing import Any

from mbauc.errors import DownloadError


class NoWeakerProtocol(urllib.request.HTTPRedirectHandler):
    """Follows a server to another address, but never out of https, and never to anything but http(s)."""

    def redirect_request(
        self, req: urllib.request.Request, fp: Any, code: int, msg: str, headers: Any, newurl: str
    ) -> urllib.request.Request | None:
        """The request for the other address."""
        scheme = newurl.partition(":")[0].lower()
        if scheme != "https" and (scheme != "http" or req.type == "https"):
            raise DownloadError(
                f"{req.full_url}: the server points to {as_shown(newurl)}, which is not as safe. Not followed."
            )
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def as_shown(words: object) -> str:
    """Words of a server as a terminal may show them: nothing that moves the cursor, and not too many."""
    return "".join(c if c.isprintable() else "?" for c in str(words))[:200]


def content_range(headers: email.message.Message) -> tuple[int | None, int | None]:
    """First byte and length of all, as far as the server says."""
    found = re.fullmatch(r"bytes (?:(\d+)-\d+|\*)/(?:(\d+)|\*)", headers.get("Content-Range", "").strip())
    start, total = found.groups() if found else (None, None)
    return None if start is None else int(start), None if total is None else int(total)
