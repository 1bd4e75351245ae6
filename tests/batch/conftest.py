"""Fixtures of the batch tests: a world and the peers it talks to."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from peers.anthropic_peer import AnthropicPeer
from peers.openai_peer import OpenAIPeer
from world import World

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-tests")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-of-the-tests")
    found = World(tmp_path / "data")
    yield found
    found.close()


@pytest.fixture
def openai(world: World) -> Iterator[OpenAIPeer]:
    peer = OpenAIPeer(world.clock.seconds)
    yield peer
    peer.close()


@pytest.fixture
def anthropic(world: World) -> Iterator[AnthropicPeer]:
    peer = AnthropicPeer(world.clock.seconds)
    yield peer
    peer.close()
