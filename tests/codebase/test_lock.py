"""The lock files pin names, versions and hashes, and name no address."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def pinned(name: str) -> dict[str, str]:
    text = (ROOT / name).read_text(encoding="utf-8")
    return dict(re.findall(r"^([a-z0-9._-]+)==([^ ;\\]+)", text, re.MULTILINE))


def test_no_lock_file_names_an_address() -> None:
    for path in (
        ROOT / "requirements.lock",
        ROOT / "requirements-test.lock",
        ROOT / "app/web/assets/package-lock.json",
    ):
        assert "://" not in path.read_text(encoding="utf-8"), path.name


def test_every_pin_has_a_hash() -> None:
    for name in ("requirements.lock", "requirements-test.lock"):
        text = (ROOT / name).read_text(encoding="utf-8")
        entries = re.split(r"^(?=[a-z0-9._-]+==)", text, flags=re.MULTILINE)[1:]
        assert entries
        assert [entry.split()[0] for entry in entries if "--hash=sha256:" not in entry] == []


def test_every_dependency_is_locked() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    names = {re.match(r"[a-z0-9._-]+", item.lower()).group() for item in project["dependencies"]}
    assert names <= set(pinned("requirements.lock"))


def test_both_locks_agree() -> None:
    core, test = pinned("requirements.lock"), pinned("requirements-test.lock")
    assert {name: version for name, version in core.items() if test.get(name) != version} == {}


def test_front_end_packages_have_integrity() -> None:
    lock = json.loads((ROOT / "app/web/assets/package-lock.json").read_text(encoding="utf-8"))
    packages = {name: entry for name, entry in lock["packages"].items() if name}
    assert packages
    assert [name for name, entry in packages.items() if "integrity" not in entry] == []
