"""Named values as pages show them: a fact in a list, a figure in the row at the head of a page."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Fact:
    """A value by name; `href` leads to what it rests on."""

    label: str
    value: str
    href: str = ""


@dataclass(frozen=True, slots=True)
class Figure:
    """A headline value with what it rests on; `better` is whether it stands for money saved."""

    label: str
    value: str
    note: str
    better: bool = False
