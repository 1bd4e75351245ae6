"""Buckets with logs in them, on servers that speak the protocol of their kind."""

from __future__ import annotations

import email.utils
import hashlib
import importlib.util
import json
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING
from urllib.parse import unquote
from xml.sax.saxutils import escape

import pytest

from tests.connectors.bucket_protocols import ACCOUNT_KEY, Bucket, azure, google
from tests.connectors.fake_litellm import row
from tests.connectors.fake_server import FakeServer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.connectors.fake_server import Asked, Reply

MODULES = {"s3": "s3fs", "gcs": "gcsfs", "azure": "azure.storage.blob"}


def service_account(token_uri: str) -> dict[str, str]:
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import rsa

    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    text = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    ).decode()
    return {
        "type": "service_account",
        "client_email": "halve@project.iam.gserviceaccount.com",
        "private_key_id": "1",
        "private_key": text,
        "token_uri": token_uri,
    }


@contextmanager
def filled_bucket(
    kind: str, folder: Path, monkeypatch: pytest.MonkeyPatch, objects: int
) -> Iterator[tuple[FakeServer, dict[str, str]]]:
    """(server, options of a source) of a bucket with two calls in each of some objects."""
    if importlib.util.find_spec(MODULES[kind].partition(".")[0]) is None:
        pytest.skip(f"the extra `{kind}` is not installed")
    bucket = Bucket(page=10)
    for n in range(objects):
        calls = [row(number, datetime.now(UTC) - timedelta(hours=number)) for number in (2 * n, 2 * n + 1)]
        bucket.put(f"llm/{n}.jsonl", b"".join(json.dumps(call).encode() + b"\n" for call in calls))
    speak = {"s3": amazon, "gcs": google, "azure": azure}[kind]
    with FakeServer(lambda asked: speak(bucket, asked), bucket=bucket) as server:
        if kind == "gcs":
            secret = folder / "account.json"
            secret.write_text(json.dumps(service_account(f"{server.url}/token")))
            yield server, {"url": "gs://logs/llm/", "key": f"file:{secret}", "endpoint": server.url}
        elif kind == "azure":
            monkeypatch.setenv("AZURE_KEY", ACCOUNT_KEY)
            yield server, {"url": "az://logs/llm/", "key": "env:AZURE_KEY", "endpoint": f"{server.url}/account"}
        else:
            monkeypatch.setenv("S3_KEY", "AKIAFAKEFAKEFAKEFAKE")
            monkeypatch.setenv("S3_SECRET", "secret/0123456789+abcdefghijklmnopqrstuv")
            keys = {"key": "env:S3_KEY", "secret": "env:S3_SECRET"}
            yield server, {"url": "s3://logs/llm/", "endpoint": server.url, **keys}


def amazon(bucket: Bucket, asked: Asked) -> Reply:
    """What a test of kills needs of S3: a listing and objects. moto speaks the rest of it elsewhere."""
    if not asked.headers.get("authorization", "").startswith("AWS4-HMAC-SHA256 Credential=AKIAFAKE"):
        return 403, {}, b"<Error><Code>AccessDenied</Code></Error>"
    if asked.path == "/logs":
        keys, mark = bucket.listed(asked.one("prefix"), "", asked.one("continuation-token"))
        contents = "".join(
            f"<Contents><Key>{escape(key)}</Key><LastModified>{changed:%Y-%m-%dT%H:%M:%S}.000Z</LastModified>"
            f"<ETag>{_tag(body)}</ETag><Size>{len(body)}</Size></Contents>"
            for key, (changed, _, body) in ((key, bucket.objects[key]) for key in keys)
        )
        more = f"<NextContinuationToken>{escape(mark)}</NextContinuationToken>" if mark else ""
        text = f"<IsTruncated>{str(bool(mark)).lower()}</IsTruncated>{more}{contents}"
        return 200, {}, f"<ListBucketResult><Name>logs</Name>{text}</ListBucketResult>".encode()
    found = bucket.objects.get(unquote(asked.path.removeprefix("/logs/")))
    if found is None:
        return 404, {}, b"<Error><Code>NoSuchKey</Code></Error>"
    changed, _, body = found
    return 200, {"ETag": _tag(body), "Last-Modified": email.utils.format_datetime(changed, usegmt=True)}, body


def _tag(body: bytes) -> str:
    return f'"{hashlib.md5(body).hexdigest()}"'
