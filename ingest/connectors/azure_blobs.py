"""Objects of Azure Blob Storage, through Microsoft's own client, over connections to addresses that were checked."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any, Final

from app.core.errors import ForbiddenError, InputError, UsageError
from ingest.connectors.connector import Batch, Connector, Errand, Option
from ingest.connectors.object_store import OPTIONS, Listed, Place, ShutError, pages, patiently, pull_objects
from ingest.connectors.outbound import checked_address
from ingest.connectors.polite import host_of
from ingest.connectors.secret_reference import read_secret

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

PAGE_KEYS: Final = 1_000


def endpoint(options: Mapping[str, Any]) -> str:
    """The address of the account: the one named, else Azure's of the account.

    Raises:
        UsageError: neither is given.
    """
    if "endpoint" not in options and "account" not in options:
        raise UsageError("A source of kind azure needs account (the storage account) or endpoint (its address).")
    return str(options.get("endpoint", f"https://{options.get('account')}.blob.core.windows.net"))


def pull(errand: Errand) -> Iterator[Batch]:
    """The objects that are new.

    Raises:
        UsageError: the extra `azure` is not installed, or a secret cannot be read. ForbiddenError: the host is not
            allowed or the key is refused. InputError: no such container. UnavailableError: the server stays away.
    """
    place = Place.of(errand.options, "az")
    with closing(_Container(errand, place)) as store:
        yield from pull_objects(errand, store, place)


class _Container:
    def __init__(self, errand: Errand, place: Place) -> None:
        CONNECTOR.installed()
        from azure.core.pipeline.transport import RequestsTransport
        from azure.storage.blob import ContainerClient

        from ingest.connectors.checked_adapter import checked_session

        options = errand.options
        self._errand = errand
        self._place = place
        self._host, self._port = host_of(endpoint(options))
        self._client = ContainerClient(
            endpoint(options),
            place.bucket,
            credential=read_secret(str(options["key"])) if "key" in options else None,
            transport=RequestsTransport(session=checked_session(errand.guard)),
            permit_redirects=False,
            retry_total=0,  # pauses are ours
            connection_timeout=10,
            read_timeout=60,
            use_env_settings=False,
        )

    def listed(self, prefix: str, start: str) -> Iterator[list[Listed]]:
        """The objects under a prefix, page by page; all of them, since Azure takes no key to begin with."""

        def ask(mark: str) -> tuple[list[Any], str | None]:
            def page() -> tuple[list[Any], str | None]:
                given: Any = self._client.list_blobs(name_starts_with=prefix or None, results_per_page=PAGE_KEYS)
                one = given.by_page(mark or None)
                return list(next(one, ())), one.continuation_token

            found: tuple[list[Any], str | None] = self._ask(page)
            return found

        def objects(page: tuple[list[Any], str | None]) -> list[Listed]:
            return [
                Listed(int(one.last_modified.timestamp() * 1_000_000), one.name, one.size, one.etag)
                for one in page[0]
                if one.name > start
            ]

        return pages(self._host, ask, objects, lambda page: page[1])

    def fetch(self, one: Listed, to: Path) -> bool:
        """Write an object into a new file; False where it is gone."""
        from azure.core.exceptions import ResourceNotFoundError

        def get() -> bool:
            try:
                with to.open("wb") as out:
                    self._client.download_blob(one.key).readinto(out)
            except ResourceNotFoundError:
                return False
            return True

        return bool(self._ask(get))

    def close(self) -> None:
        """End the connections."""
        self._client.close()

    def _ask(self, work: Callable[[], Any]) -> Any:
        from azure.core.exceptions import (
            AzureError,
            ClientAuthenticationError,
            HttpResponseError,
            ResourceNotFoundError,
        )

        refused = f"{self._host} refuses the key for the container {self._place.bucket}. It needs to list and to read."

        def tried() -> Any:
            checked_address(self._host, self._port, self._errand.guard)
            try:
                return work()
            except ClientAuthenticationError as error:
                raise ForbiddenError(refused) from error
            except ResourceNotFoundError as error:
                raise InputError(f"{self._host} has no container {self._place.bucket}. Check its name.") from error
            except HttpResponseError as error:
                if error.status_code == 403:
                    raise ForbiddenError(refused) from error
                if str(getattr(error, "error_code", "")) == "BlobArchived":
                    raise ShutError from error
                raise

        return patiently(self._errand, self._host, tried, (AzureError, OSError))


CONNECTOR: Final = Connector(
    name="azure",
    reads="Blobs of an Azure storage container, in any format that Halve reads (extra `azure`).",
    options=(
        Option("url", "az://CONTAINER[/PREFIX]", required=True),
        Option("account", "the storage account"),
        Option("key", "the account's key or a SAS token; without it the container is read as anybody may", secret=True),
        Option("endpoint", "the account's address where it is not Azure's own"),
        *OPTIONS,
    ),
    pull=pull,
    extra=("azure", "azure.storage.blob"),
    check=lambda options: (Place.of(options, "az"), host_of(endpoint(options))),
    hosts=lambda options: [host_of(endpoint(options))],
)
