"""What Google's and Azure's object stores answer, over a bucket that a test fills."""

from __future__ import annotations

import email.utils
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote
from xml.sax.saxutils import escape

if TYPE_CHECKING:
    from tests.connectors.fake_server import Asked, Reply

ACCOUNT_KEY = "Zm9yIHRlc3RzIG9ubHkgMDEyMzQ1Njc4OQ=="


@dataclass(slots=True)
class Bucket:
    """Objects by key: (time of change, version, body). Each page of a listing has `page` of them."""

    page: int = 3
    objects: dict[str, tuple[datetime, int, bytes]] = field(default_factory=dict)
    puts: int = 0

    def put(self, key: str, body: bytes) -> None:
        self.puts += 1
        self.objects[key] = (datetime.now(UTC), 1_000 + self.puts, body)

    def listed(self, prefix: str, start: str, after: str) -> tuple[list[str], str]:
        """(keys of a page, the mark of the next one)."""
        keys = sorted(key for key in self.objects if key.startswith(prefix) and key >= start and key > after)
        return keys[: self.page], keys[self.page - 1] if len(keys) > self.page else ""


def google(bucket: Bucket, asked: Asked) -> tuple[int, Any] | Reply:
    """The JSON API of Cloud Storage, and the place where a service account's key buys its tokens."""
    if asked.path == "/token":
        return 200, {"access_token": "ya29.fake", "expires_in": 3600, "token_type": "Bearer"}
    if asked.headers.get("authorization") != "Bearer ya29.fake":
        return 401, {"error": {"code": 401, "message": "Anonymous caller does not have access."}}
    if asked.path == "/storage/v1/b/logs/o":
        keys, mark = bucket.listed(asked.one("prefix"), asked.one("startOffset"), asked.one("pageToken"))
        items = [_google_object(bucket, key) for key in keys]
        return 200, {"kind": "storage#objects", "items": items, **({"nextPageToken": mark} if mark else {})}
    key = unquote(asked.path.partition("/storage/v1/b/logs/o/")[2])
    if key in bucket.objects and asked.one("alt") == "media":
        return 200, {"Content-Type": "application/octet-stream"}, bucket.objects[key][2]
    if key in bucket.objects:
        return 200, _google_object(bucket, key)
    return 404, {"error": {"code": 404, "message": "The specified bucket does not exist."}}


def _google_object(bucket: Bucket, key: str) -> dict[str, str]:
    changed, version, body = bucket.objects[key]
    return {
        "name": key,
        "size": str(len(body)),
        "updated": changed.isoformat().replace("+00:00", "Z"),
        "generation": str(version),
        "etag": f"C{version}",
    }


def azure(bucket: Bucket, asked: Asked) -> Reply:
    """The Blob service of one account, addressed by path as an emulator is."""
    if not asked.headers.get("authorization", "").startswith("SharedKey account:"):
        return 403, {"x-ms-error-code": "AuthenticationFailed"}, b""
    path = asked.path.removeprefix("/account/")
    if path == "logs" and asked.one("comp") == "list":
        return 200, {"Content-Type": "application/xml"}, _azure_listing(bucket, asked)
    found = bucket.objects.get(unquote(path.removeprefix("logs/"))) if path.startswith("logs/") else None
    if found is None:
        code = "BlobNotFound" if path.startswith("logs/") else "ContainerNotFound"
        return 404, {"x-ms-error-code": code}, b""
    changed, version, body = found
    first, _, last = (asked.headers.get("x-ms-range") or asked.headers["range"]).removeprefix("bytes=").partition("-")
    part = body[int(first) : int(last) + 1]
    headers = {
        "Content-Range": f"bytes {first}-{int(first) + len(part) - 1}/{len(body)}",
        "ETag": f'"{version}"',
        "Last-Modified": email.utils.format_datetime(changed, usegmt=True),
        "x-ms-blob-type": "BlockBlob",
        "Content-Type": "application/octet-stream",
    }
    return 206, headers, part


def _azure_listing(bucket: Bucket, asked: Asked) -> bytes:
    keys, mark = bucket.listed(asked.one("prefix"), "", asked.one("marker"))
    blobs = "".join(
        f"<Blob><Name>{escape(key)}</Name><Properties>"
        f"<Last-Modified>{email.utils.format_datetime(bucket.objects[key][0], usegmt=True)}</Last-Modified>"
        f"<Etag>{bucket.objects[key][1]}</Etag><Content-Length>{len(bucket.objects[key][2])}</Content-Length>"
        "<BlobType>BlockBlob</BlobType></Properties></Blob>"
        for key in keys
    )
    text = (
        '<?xml version="1.0" encoding="utf-8"?><EnumerationResults ContainerName="logs">'
        f"<Blobs>{blobs}</Blobs><NextMarker>{escape(mark)}</NextMarker></EnumerationResults>"
    )
    return text.encode()
