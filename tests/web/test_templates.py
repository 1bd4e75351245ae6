"""Rules of templates and static files: nothing inline, nothing computed, nothing from elsewhere."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import jinja2
import pytest
from jinja2 import nodes

from app.charts.theme import PALETTES
from app.web import render
from app.web.pages import PAGES

if TYPE_CHECKING:
    from pathlib import Path

TEMPLATES = sorted((render.HERE / "templates").rglob("*.html"))
OWN_STATIC = sorted(path for path in render.STATIC.iterdir() if path.is_file())
ASSETS = render.HERE / "assets"
ARITHMETIC = (nodes.Add, nodes.Sub, nodes.Mul, nodes.Div, nodes.FloorDiv, nodes.Mod, nodes.Pow)


def name(path: Path) -> str:
    return path.name


@pytest.mark.parametrize("path", TEMPLATES, ids=name)
def test_a_template_holds_no_inline_script_or_style(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert re.search(r"<script(?![^>]*\bsrc=)", text) is None
    assert "<style" not in text
    assert re.search(r"\sstyle\s*=", text) is None
    assert re.search(r"\son[a-z]+\s*=\s*[\"']", text) is None
    assert "javascript:" not in text
    assert re.search(r"(src|href|action)=\"(https?:)?//", text) is None


@pytest.mark.parametrize("path", TEMPLATES, ids=name)
def test_a_template_computes_and_formats_nothing(path: Path) -> None:
    tree = jinja2.Environment(autoescape=True).parse(path.read_text(encoding="utf-8"))
    assert [node.lineno for kind in ARITHMETIC for node in tree.find_all(kind)] == []
    filters = {node.name for node in tree.find_all(nodes.Filter)}
    assert filters <= {"capitalize", "lower", "length", "coded", "whole"}, "numbers are written in app/web/format.py"
    assert [node.lineno for node in tree.find_all(nodes.MarkSafe)] == []


def test_every_page_has_its_template() -> None:
    for page in PAGES:
        assert (render.HERE / "templates" / page.template).is_file()


def test_htmx_is_used_through_the_small_subset_alone() -> None:
    allowed = {"hx-get", "hx-target", "hx-select", "hx-swap", "hx-push-url", "hx-trigger", "hx-indicator"}
    used = {found for path in TEMPLATES for found in re.findall(r"\bhx-[a-z-]+(?==)", path.read_text(encoding="utf-8"))}
    assert used <= allowed


@pytest.mark.parametrize("path", OWN_STATIC, ids=name)
def test_static_files_fetch_nothing_from_elsewhere_and_make_no_code_from_text(path: Path) -> None:
    text = path.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
    assert re.search(r"https?://", text) is None
    assert re.search(r"\beval\(|new Function|innerHTML", text) is None


def test_colours_in_tables_are_those_of_the_charts() -> None:
    css = (render.STATIC / "tokens.css").read_text(encoding="utf-8")
    light, dark = PALETTES["light"], PALETTES["dark"]
    wanted = {f"s{place}": pair for place, pair in enumerate(zip(light.series, dark.series, strict=True))}
    wanted |= {
        "other": (light.other, dark.other),
        "unassigned": (light.unassigned, dark.unassigned),
        "saving": (light.saving, dark.saving),
    }
    for token, (in_light, in_dark) in wanted.items():
        assert f"--{token}: light-dark({in_light}, {in_dark});" in css


def test_raw_colours_stand_in_one_file() -> None:
    css = (render.STATIC / "app.css").read_text(encoding="utf-8")
    assert re.search(r"#[0-9a-fA-F]{3,8}\b(?!-)", css.replace("#vg-tooltip-element", "")) is None


def test_the_browser_libraries_are_pinned_with_integrity_and_without_addresses() -> None:
    manifest = json.loads((ASSETS / "package.json").read_text(encoding="utf-8"))
    text = (ASSETS / "package-lock.json").read_text(encoding="utf-8")
    assert all(re.fullmatch(r"\d+\.\d+\.\d+", version) for version in manifest["dependencies"].values())
    assert "http" not in text
    assert "resolved" not in text
    packages = json.loads(text)["packages"]
    assert all("integrity" in entry for where, entry in packages.items() if where)
    for package, version in manifest["dependencies"].items():
        assert packages[f"node_modules/{package}"]["version"] == version
