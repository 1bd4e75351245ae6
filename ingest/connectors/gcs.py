"""Objects of Google Cloud Storage, through gcsfs."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any, Final

from app.core.errors import ForbiddenError, InputError
from ingest.connectors.answers import instant_us
from ingest.connectors.connector import Batch, Connector, Errand, Option
from ingest.connectors.object_store import OPTIONS, Listed, Place, fetched, pages, patiently, pull_objects
from ingest.connectors.outbound import checked_address
from ingest.connectors.polite import host_of
from ingest.connectors.secret_reference import read_secret_document

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

SERVER: Final = "https://storage.googleapis.com"
TOKENS: Final = "https://oauth2.googleapis.com/token"  # where a service account's key buys its tokens
PAGE_KEYS: Final = 1_000


def pull(errand: Errand) -> Iterator[Batch]:
    """The objects that are new.

    Raises:
        UsageError: the extra `gcs` is not installed, or the key cannot be read. ForbiddenError: a host is not allowed
            or the key is refused. InputError: no such bucket. UnavailableError: the server stays away.
    """
    place = Place.of(errand.options, "gs")
    with closing(_Bucket(errand, place)) as store:
        yield from pull_objects(errand, store, place)


class _Bucket:
    def __init__(self, errand: Errand, place: Place) -> None:
        CONNECTOR.installed()
        import aiohttp
        from fsspec.asyn import get_loop, sync
        from gcsfs.core import GCSFileSystem

        from ingest.connectors.checked_resolver import CheckedResolver

        self._errand = errand
        self._place = place
        key = read_secret_document(str(errand.options["key"])) if "key" in errand.options else None
        for host, port in _hosts(errand.options, key):
            checked_address(host, port, errand.guard)

        async def connector() -> aiohttp.TCPConnector:
            return aiohttp.TCPConnector(resolver=CheckedResolver(errand.guard))

        stays = aiohttp.TraceConfig()
        stays.on_request_redirect.append(_refuse_redirect)

        self._files: Any = GCSFileSystem(
            project="none",
            access="read_only",
            token="anon" if key is None else key,
            endpoint_url=str(errand.options.get("endpoint", SERVER)),
            session_kwargs={
                "connector": sync(get_loop(), connector),
                "timeout": aiohttp.ClientTimeout(120),
                "trace_configs": [stays],
            },
            skip_instance_cache=True,
            use_listings_cache=False,
        )

    def listed(self, prefix: str, start: str) -> Iterator[list[Listed]]:
        """The objects under a prefix whose keys do not sort before `start`, page by page."""
        asked = {"prefix": prefix, "maxResults": PAGE_KEYS, **({"startOffset": start} if start else {})}

        def ask(mark: str) -> Any:
            going_on = {"pageToken": mark} if mark else {}
            bucket = self._place.bucket
            return self._ask(lambda: self._files.call("GET", "b/{}/o", bucket, json_out=True, **asked, **going_on))

        return pages("storage", ask, _objects, lambda page: page.get("nextPageToken"))

    def fetch(self, one: Listed, to: Path) -> bool:
        """Write an object into a new file; False where it is gone."""
        return bool(self._ask(lambda: fetched(self._files, f"{self._place.bucket}/{one.key}", to)))

    def close(self) -> None:
        """End the connections."""
        from fsspec.asyn import sync

        if self._files._session is not None:  # noqa: SLF001
            sync(self._files.loop, self._files._session.close)  # noqa: SLF001

    def _ask(self, work: Callable[[], Any]) -> Any:
        import aiohttp
        from gcsfs.retry import HttpError
        from google.auth.exceptions import RefreshError, TransportError

        from ingest.connectors.checked_resolver import raise_own

        refused = f"Google refuses the key for the bucket {self._place.bucket}. It needs the role of an object viewer."

        def tried() -> Any:
            try:
                return work()
            except RefreshError as error:
                raise ForbiddenError(refused) from error
            except FileNotFoundError as error:
                raise InputError(f"There is no bucket {self._place.bucket}. Check its name.") from error
            except (OSError, HttpError, aiohttp.ClientError) as error:
                raise_own(error)
                if getattr(error, "code", None) in (401, 403) or str(error).startswith("Forbidden"):
                    raise ForbiddenError(refused) from error
                raise

        return patiently(self._errand, "storage", tried, (OSError, HttpError, aiohttp.ClientError, TransportError))


async def _refuse_redirect(*_: Any) -> None:
    """An address that is written as a number is never resolved, so that the resolver could not refuse it."""
    raise InputError("The server points to another place. Name the final address; redirects are not followed.")


def _objects(page: dict[str, Any]) -> list[Listed]:
    if page["kind"] != "storage#objects":
        raise KeyError("storage#objects")
    return [
        Listed(instant_us(one["updated"]) or 0, one["name"], int(one["size"]), str(one["generation"]))
        for one in page.get("items", ())
    ]


def _hosts(options: Mapping[str, Any], key: Any) -> Sequence[tuple[str, int]]:
    hosts = [host_of(str(options.get("endpoint", SERVER)))]
    if key is not None:
        hosts.append(host_of(str(key.get("token_uri", TOKENS) if isinstance(key, dict) else TOKENS)))
    return hosts


def _named_hosts(options: Mapping[str, Any]) -> Sequence[tuple[str, int]]:
    return _hosts(options, read_secret_document(str(options["key"])) if "key" in options else None)


CONNECTOR: Final = Connector(
    name="gcs",
    reads="Objects of a Google Cloud Storage bucket, in any format that Halve reads (extra `gcs`).",
    options=(
        Option("url", "gs://BUCKET[/PREFIX]", required=True),
        Option("key", "the JSON key of a service account; without it the bucket is read as anybody may", secret=True),
        Option("endpoint", f"another server that speaks the JSON API, {SERVER}"),
        *OPTIONS,
    ),
    pull=pull,
    extra=("gcs", "gcsfs"),
    check=lambda options: (Place.of(options, "gs"), host_of(str(options.get("endpoint", SERVER)))),
    hosts=_named_hosts,
)
