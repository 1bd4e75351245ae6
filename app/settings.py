"""Every setting, read once by `main` and `cli` from the environment and handed down as plain values."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Literal

from app.core.errors import UsageError

_SIZE = re.compile(r"\d+(\.\d+)? ?[KMGT]i?B", re.IGNORECASE)

TextMode = Literal["none", "shared", "all"]


def _setting(default: Any, env: str, help_text: str) -> Any:
    return field(default=default, metadata={"env": env, "help": help_text})


@dataclass(frozen=True, slots=True)
class Settings:
    """One field a variable: its name and help stand in the field's metadata, its default is the field's."""

    data_dir: Path = _setting(Path("data"), "HALVE_DATA_DIR", "folder of the two stores, the inbox and the install key")
    host: str = _setting("127.0.0.1", "HALVE_HOST", "address the dashboard listens on")
    port: int = _setting(8080, "HALVE_PORT", "port the dashboard listens on")
    host_names: str = _setting(
        "127.0.0.1 localhost", "HALVE_HOST_NAMES", "names under which the dashboard answers, space-separated"
    )
    public_origin: str = _setting("", "HALVE_PUBLIC_ORIGIN", "https://name, where a TLS proxy stands in front")
    allow_hosts: str = _setting(
        "", "HALVE_ALLOW_HOSTS", "hosts Halve may call, space-separated; a private one only if it is named here"
    )
    zone: str = _setting("UTC", "HALVE_ZONE", "named time zone in which days are cut")
    text: TextMode = _setting("shared", "HALVE_TEXT", "which prompt text is kept: none, shared or all")
    memory: str = _setting("1GB", "HALVE_MEMORY", "memory limit of the warehouse")
    ingest_roots: str = _setting(
        "", "HALVE_INGEST_ROOTS", "folders the service may read logs from, separated by ':'; empty allows none"
    )
    prices: str = _setting("", "HALVE_PRICES", "a file of negotiated rates laid over the price book")
    batch_provider: str = _setting(
        "openai", "HALVE_BATCH_PROVIDER", "where batches of the API go: openai or anthropic; the page offers both"
    )
    batch_base_url: str = _setting(
        "", "HALVE_BATCH_BASE_URL", "another server that speaks that provider's protocol, as https://host/v1"
    )
    batch_key: str = _setting("", "HALVE_BATCH_KEY", "its key as env:NAME or file:PATH; empty is the provider's own")
    smtp_url: str = _setting(
        "", "HALVE_SMTP_URL", "mail server: smtp://user@host:587?password=env:NAME, or a reference to such an address"
    )
    mail_from: str = _setting("", "HALVE_MAIL_FROM", "address that reports are sent from")
    mail_to: str = _setting("", "HALVE_MAIL_TO", "who gets the weekly report, addresses separated by spaces")


def load(environment: dict[str, str] | None = None) -> Settings:
    """Settings from the environment.

    Raises:
        UsageError: a value that cannot be read as its type.
    """
    given = dict(os.environ) if environment is None else environment
    values: dict[str, Any] = {}
    for item in fields(Settings):
        text = given.get(item.metadata["env"])
        if text is None:
            continue
        values[item.name] = _convert(item.metadata["env"], text, type(item.default))
    if values.get("text", "shared") not in ("none", "shared", "all"):
        raise UsageError(f"HALVE_TEXT={values['text']!r} is none of none, shared, all.")
    if not 0 < values.get("port", 1) < 65_536:
        raise UsageError(f"HALVE_PORT={values['port']} is no port: ports are 1 to 65535.")
    if not _SIZE.fullmatch(values.get("memory", "1GB")):
        raise UsageError(f"HALVE_MEMORY={values['memory']!r} is no size. Write for example 512MB or 2GB.")
    return Settings(**values)


def _convert(env: str, text: str, kind: type) -> Any:
    if kind is int:
        try:
            return int(text)
        except ValueError as error:
            raise UsageError(f"{env}={text!r} is no whole number.") from error
    return Path(text) if issubclass(kind, Path) else text
