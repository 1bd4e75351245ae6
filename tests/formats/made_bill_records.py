"""Made records of bills: usage and cost exports of providers and clouds."""

from __future__ import annotations

from typing import Any, Final

from tests.formats.made_answers import two

BILLS: Final[dict[str, list[list[Any]]]] = {
    "openai_org_usage": two(
        lambda n: {
            "object": "page",
            "data": [
                {
                    "object": "bucket",
                    "start_time": 1772409600 + 86400 * n,
                    "end_time": 1772496000 + 86400 * n,
                    "results": [
                        {
                            "object": "organization.usage.completions.result",
                            "input_tokens": 5000,
                            "input_cached_tokens": 4000,
                            "output_tokens": 300,
                            "num_model_requests": 9,
                            "model": "gpt-4o-2024-08-06",
                            "project_id": "p",
                        }
                    ],
                }
            ],
            "has_more": False,
        }
    ),
    "openai_org_costs": two(
        lambda n: {
            "object": "page",
            "data": [
                {
                    "object": "bucket",
                    "start_time": 1772409600 + 86400 * n,
                    "end_time": 1772496000 + 86400 * n,
                    "results": [
                        {
                            "object": "organization.costs.result",
                            "amount": {"value": 4.5, "currency": "usd"},
                            "line_item": "gpt-4o-2024-08-06, input",
                            "project_id": "p",
                        }
                    ],
                }
            ],
            "has_more": False,
        }
    ),
    "anthropic_usage_report": two(
        lambda n: {
            "data": [
                {
                    "starting_at": f"2026-03-0{n}T00:00:00Z",
                    "ending_at": f"2026-03-0{n + 1}T00:00:00Z",
                    "results": [
                        {
                            "uncached_input_tokens": 1200,
                            "cache_read_input_tokens": 4000,
                            "cache_creation": {"ephemeral_5m_input_tokens": 100},
                            "output_tokens": 80,
                            "model": "claude-sonnet-4-5",
                            "workspace_id": "w",
                        }
                    ],
                }
            ],
            "has_more": False,
        }
    ),
    "anthropic_cost_report": two(
        lambda n: {
            "data": [
                {
                    "starting_at": f"2026-03-0{n}T00:00:00Z",
                    "ending_at": f"2026-03-0{n + 1}T00:00:00Z",
                    "results": [
                        {
                            "currency": "USD",
                            "amount": "24.5",
                            "cost_type": "tokens",
                            "model": "claude-sonnet-4-5",
                            "token_type": "uncached_input_tokens",
                            "description": "Claude Sonnet 4.5 Usage - Input Tokens",
                        }
                    ],
                }
            ],
            "has_more": False,
        }
    ),
    "aws_cur": two(
        lambda n: {
            "bill_payer_account_id": "1",
            "bill_billing_period_start_date": "2026-03-01T00:00:00Z",
            "line_item_line_item_type": "Usage",
            "line_item_product_code": "AmazonBedrock",
            "line_item_usage_type": "USW2-Claude4.5Sonnet-input-token-count",
            "line_item_usage_start_date": f"2026-03-0{n}T10:00:00Z",
            "line_item_usage_account_id": "1",
            "line_item_usage_amount": 17.5,
            "pricing_unit": "1K tokens",
            "line_item_unblended_cost": 0.0525,
            "line_item_currency_code": "USD",
        }
    ),
    "gcp_billing": two(
        lambda n: {
            "billing_account_id": "b",
            "service": {"id": "s", "description": "Vertex AI"},
            "sku": {"id": "k", "description": "Gemini 2.5 Flash Text Input - Predictions"},
            "usage_start_time": f"2026-03-0{n}T10:00:00Z",
            "usage_end_time": f"2026-03-0{n}T11:00:00Z",
            "project": {"id": "p"},
            "location": {"region": "us-central1"},
            "cost": 0.5,
            "currency": "USD",
            "usage": {"amount": 1000.0, "unit": "count", "pricing_unit": "count"},
            "credits": [],
            "cost_type": "regular",
        }
    ),
    "azure_cost": two(
        lambda n: {
            "BillingAccountId": "b",
            "BillingCurrency": "USD",
            "Date": f"03/0{n}/2026",
            "SubscriptionId": "s",
            "MeterCategory": "Foundry Models",
            "MeterSubCategory": "Azure OpenAI GPT5",
            "MeterName": "gpt 5 inp Gl 1M Tokens",
            "UnitOfMeasure": "1M",
            "Quantity": 4.1,
            "CostInBillingCurrency": 5.125,
            "ChargeType": "Usage",
            "ConsumedService": "Microsoft.CognitiveServices",
        }
    ),
    "focus": two(
        lambda n: {
            "BilledCost": 1.5,
            "EffectiveCost": 1.5,
            "ListCost": 1.5,
            "BillingAccountId": "b",
            "BillingCurrency": "USD",
            "BillingPeriodStart": "2026-03-01T00:00:00Z",
            "BillingPeriodEnd": "2026-04-01T00:00:00Z",
            "ChargeCategory": "Usage",
            "ChargeDescription": "Claude Sonnet 4.5 input tokens",
            "ChargePeriodStart": f"2026-03-0{n}T00:00:00Z",
            "ChargePeriodEnd": f"2026-03-0{n + 1}T00:00:00Z",
            "ConsumedQuantity": 500000,
            "ConsumedUnit": "Tokens",
            "ProviderName": "AWS",
            "ServiceName": "Amazon Bedrock",
            "ServiceCategory": "AI and Machine Learning",
        }
    ),
    "openrouter_activity": two(
        lambda n: {
            "date": f"2026-03-0{n}",
            "model": "anthropic/claude-sonnet-4.5",
            "usage": 1.5,
            "requests": 9,
            "prompt_tokens": 5000,
            "completion_tokens": 300,
            "cached_tokens": 4000,
        }
    ),
    "vercel_ai_gateway": two(
        lambda n: {
            "day": f"2026-03-0{n}",
            "model": "anthropic/claude-sonnet-4.5",
            "total_cost": 1.5,
            "input_tokens": 1000,
            "cached_input_tokens": 4000,
            "output_tokens": 300,
            "request_count": 9,
        }
    ),
}  # fmt: skip
