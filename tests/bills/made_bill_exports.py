"""Made records of exports of bills."""

from __future__ import annotations

from typing import Any

NOV_27 = 1_795_737_600


def bucket(*results: dict[str, Any]) -> dict[str, Any]:
    one = {"object": "bucket", "start_time": NOV_27, "end_time": NOV_27 + 86_400, "results": list(results)}
    return {"object": "page", "data": [one], "has_more": False, "next_page": None}


CUR = {
    "bill_payer_account_id": "1",
    "line_item_line_item_type": "Usage",
    "line_item_product_code": "AmazonBedrock",
    "line_item_usage_account_id": "2",
    "line_item_usage_start_date": "2026-11-27T23:00:00.000Z",
    "line_item_usage_amount": "17.33",
    "pricing_unit": "1K tokens",
    "line_item_unblended_cost": "0.0572",
    "line_item_currency_code": "USD",
}
