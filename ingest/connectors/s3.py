"""Objects of S3 and of servers that speak its protocol (MinIO, R2, Ceph), through s3fs."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any, Final

from app.core.errors import ForbiddenError, InputError
from ingest.connectors.connector import Batch, Connector, Errand, Option
from ingest.connectors.object_store import OPTIONS, Listed, Place, ShutError, fetched, pages, patiently, pull_objects
from ingest.connectors.outbound import checked_address
from ingest.connectors.polite import host_of
from ingest.connectors.secret_reference import read_secret

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

REGION: Final = "us-east-1"
PAGE_KEYS: Final = 1_000


def endpoint(options: Mapping[str, Any]) -> str:
    """The address of the server: the one named, else Amazon's of the region."""
    named = options.get("endpoint")
    return f"https://s3.{options.get('region', REGION)}.amazonaws.com" if named is None else str(named)


def pull(errand: Errand) -> Iterator[Batch]:
    """The objects that are new.

    Raises:
        UsageError: the extra `s3` is not installed, or a secret cannot be read. ForbiddenError: the host is not
            allowed or the keys are refused. InputError: no such bucket. UnavailableError: the server stays away.
    """
    place = Place.of(errand.options, "s3")
    with closing(_Bucket(errand, place)) as store:
        yield from pull_objects(errand, store, place)


class _Bucket:
    """A bucket, asked by path and never by a host name of its own, so that one host is all there is to allow."""

    def __init__(self, errand: Errand, place: Place) -> None:
        CONNECTOR.installed()
        from s3fs import S3FileSystem

        from ingest.connectors.checked_resolver import CheckedResolver

        options = errand.options
        self._errand = errand
        self._place = place
        self._host, port = host_of(endpoint(options))
        checked_address(self._host, port, errand.guard)
        names = ("key", "secret", "session")
        key, secret, session = (read_secret(str(options[name])) if name in options else None for name in names)
        self._files: Any = S3FileSystem(
            anon=key is None,
            key=key,
            secret=secret,
            token=session,
            endpoint_url=endpoint(options),
            client_kwargs={"region_name": str(options.get("region", REGION))},
            config_kwargs={
                "s3": {"addressing_style": "path"},
                "connect_timeout": 10,
                "read_timeout": 60,
                "retries": {"max_attempts": 1, "mode": "standard"},  # pauses are ours
                "connector_args": {"resolver": CheckedResolver(errand.guard)},
                "proxies": {},
            },
            skip_instance_cache=True,
            use_listings_cache=False,
        )
        self._files.retries = 1

    def listed(self, prefix: str, start: str) -> Iterator[list[Listed]]:
        """The objects under a prefix whose keys sort after `start`, page by page."""
        asked: dict[str, Any] = {"Bucket": self._place.bucket, "Prefix": prefix, "MaxKeys": PAGE_KEYS}
        if start:
            asked["StartAfter"] = start

        def ask(mark: str) -> Any:
            going_on = {"ContinuationToken": mark} if mark else {}
            return self._ask(lambda: self._files.call_s3("list_objects_v2", **asked, **going_on))

        # Every listing says whether it is cut off, that of an empty bucket too.
        return pages(self._host, ask, _objects, lambda page: page["IsTruncated"] and page["NextContinuationToken"])

    def fetch(self, one: Listed, to: Path) -> bool:
        """Write an object into a new file; False where it is gone."""

        def get() -> bool:
            try:
                return fetched(self._files, f"{self._place.bucket}/{one.key}", to)
            except PermissionError as error:
                if "InvalidObjectState" in str(error.__cause__):
                    raise ShutError from error
                raise

        return bool(self._ask(get))

    def close(self) -> None:
        """End the connections."""
        from fsspec.asyn import sync

        if self._files._s3creator is not None and self._files._s3 is not None:  # noqa: SLF001
            sync(self._files.loop, self._files._s3creator.__aexit__, None, None, None)  # noqa: SLF001
            self._files._s3 = None  # noqa: SLF001

    def _ask(self, work: Callable[[], Any]) -> Any:
        from aiohttp import ClientError
        from botocore.exceptions import BotoCoreError, HTTPClientError

        from ingest.connectors.checked_resolver import raise_own

        def tried() -> Any:
            try:
                return work()
            except PermissionError as error:
                raise ForbiddenError(
                    f"{self._host} refuses the keys for the bucket {self._place.bucket}. They need to list and to read."
                ) from error
            except FileNotFoundError as error:
                raise InputError(f"{self._host} has no bucket {self._place.bucket}. Check its name.") from error
            except (OSError, HTTPClientError) as error:
                raise_own(error)
                raise

        return patiently(self._errand, self._host, tried, (OSError, BotoCoreError, ClientError))


def _objects(page: dict[str, Any]) -> list[Listed]:
    return [
        Listed(int(one["LastModified"].timestamp() * 1_000_000), one["Key"], one["Size"], one["ETag"])
        for one in page.get("Contents", ())
    ]


CONNECTOR: Final = Connector(
    name="s3",
    reads="Objects of an S3 bucket, in any format that Halve reads, plain, gz, zst, bz2, xz or zip (extra `s3`).",
    options=(
        Option("url", "s3://BUCKET[/PREFIX]", required=True),
        Option("key", "the access key id; without it the bucket is read as anybody may", secret=True),
        Option("secret", "the secret access key", secret=True),
        Option("session", "a session token, where the keys are temporary", secret=True),
        Option("region", f"the bucket's region, {REGION}"),
        Option("endpoint", "another server that speaks the protocol, as https://minio.internal:9000"),
        *OPTIONS,
    ),
    pull=pull,
    extra=("s3", "s3fs"),
    check=lambda options: (Place.of(options, "s3"), host_of(endpoint(options))),
    hosts=lambda options: [host_of(endpoint(options))],
)
