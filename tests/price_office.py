"""The made company's dashboard with a price book: own rates in euro, a fee for a source of logs, an imported table."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from dashboard_company import ZONE, company

from app.main.price_books import Books
from app.main.prices import import_table, price_desk
from app.main.runtime import load_book
from app.settings import Settings

if TYPE_CHECKING:
    from pathlib import Path

    from app.web.deps import Deps

OWN = """
currencies:
  - {currency: EUR, usd: 1.25}
rates:
  - {provider: openai, model: gpt-5-mini, currency: EUR, input: 0.1, output: 0.4}
fees:
  - {name: Seats of the team, billing: subscription, amount: 30, seats: 4, per: month, logs: litellm}
  - {name: Reserved capacity, billing: provisioned, amount: 240, per: day, currency: EUR}
"""
TABLE = {
    "sample_spec": {},
    "gpt-4.1": {"litellm_provider": "openai", "input_cost_per_token": 2.5e-06, "output_cost_per_token": 8e-06},
    "other-model": {"litellm_provider": "openai", "input_cost_per_token": 1e-06, "output_cost_per_token": 2e-06},
}


def with_prices(folder: Path) -> Deps:
    """The company's dashboard; its book lies in `folder`."""
    own, table = folder / "own.yml", folder / "litellm.json"
    own.write_text(OWN, encoding="utf-8")
    table.write_text(json.dumps(TABLE), encoding="utf-8")
    settings = Settings(data_dir=folder, zone=ZONE, prices=str(own))
    import_table(table, settings, model="gpt-4.1", as_of="2026-11-01", really=True)
    made = company(no_access_control=True, demo=True)
    desk = price_desk(Books(lambda: load_book(settings)), settings)
    return replace(made.deps, commands=replace(made.deps.commands, prices=desk))
