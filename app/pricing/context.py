"""The price context of a request as one canonical text: what beside provider, model and time decides the rate.

Selectors (batch, service tier, speed) need a price of their own, else the request is unpriced. Modifiers (geography,
region, which of its two platforms a provider sold on, deployment type, reseller, size of the searched context, the name
that was asked for where it moved between models) matter only where a rule names them. The account and `contract` mark
own terms.
"""

from __future__ import annotations

from typing import Final

SELECTORS: Final = ("processing", "service_tier", "speed", "route", "search_type")
MODIFIERS: Final = ("geo", "region", "platform", "deployment", "via", "search_context", "name")
TERMS: Final = ("account", "contract")
DIMENSIONS: Final = (*SELECTORS, *MODIFIERS, *TERMS)

_PLAIN_TIERS: Final = frozenset({"", "default", "standard", "auto", "on_demand", "ondemand", "standard_only", "none"})
_CAPACITY_TIERS: Final = frozenset({"provisioned", "reserved", "scale"})
"""Tiers whose tokens a fixed fee pays for; the list price says what they are worth."""
_NO_GEO: Final = frozenset({"", "global", "not_available", "default"})
_PLAIN_SPEEDS: Final = frozenset({"", "standard", "default"})
_DEPLOYMENTS: Final = {
    "globalstandard": {},
    "datazonestandard": {"deployment": "DataZoneStandard"},
    "standard": {"deployment": "Standard"},
    "globalbatch": {"processing": "batch"},
    "datazonebatch": {"processing": "batch", "deployment": "DataZoneStandard"},
    "globalprovisionedmanaged": {"service_tier": "provisioned"},
    "datazoneprovisionedmanaged": {"service_tier": "provisioned"},
    "provisionedmanaged": {"service_tier": "provisioned"},
}
_BARE: Final = {"batch": "processing", "fast": "speed", "flex": "service_tier", "priority": "service_tier"}

Context = dict[str, str]


def is_deployment_type(name: str) -> bool:
    """Whether a `deployment` is one of Azure's types, such as GlobalStandard, and not the name of somebody's."""
    return name.strip().lower() in _DEPLOYMENTS


def of_request(
    *, is_batch: bool, service_tier: str | None, region: str | None, extra: dict[str, str] | None
) -> Context:
    """The context that a request's own fields say, standard values left out.

    `extra` holds `inference_geo`, `speed`, `deployment` (an Azure deployment type; other texts are names and say
    nothing about the price), `vertex_location`, `route`, `search_type` and `search_context`. `charge: reported` (the
    response says what was charged) changes no rate.
    """
    given = {key: str(value) for key, value in (extra or {}).items() if value is not None}
    context: Context = {}
    tier = (service_tier or "").strip().lower()
    if is_batch or tier == "batch" or given.get("processing", "").lower() == "batch" or given.get("batch") == "true":
        context["processing"] = "batch"
    if tier not in _PLAIN_TIERS | _CAPACITY_TIERS and tier != "batch":
        context["service_tier"] = tier
    speed = given.get("speed", "").lower()
    if speed not in _PLAIN_SPEEDS:
        context["speed"] = speed
    geo = given.get("inference_geo", "").lower()
    if geo not in _NO_GEO:
        context["geo"] = geo
    place = (given.get("vertex_location") or region or "").lower()
    if place not in _NO_GEO:
        context["region"] = place
    elif place == "global":  # an endpoint of Vertex AI: AI Studio has no places
        context["platform"] = "vertex"
    context.update(_DEPLOYMENTS.get(given.get("deployment", "").lower(), {}))
    for name in ("route", "search_type", "search_context"):
        if given.get(name):
            context[name] = given[name].lower()
    return context


def text(context: Context) -> str:
    """Canonical text of a context: `batch`, `priority`, `batch region=us-east5`; the standard one is empty."""
    words = []
    for name in DIMENSIONS:
        value = context.get(name)
        if value is None:
            continue
        if name == "contract":
            words.append("contract")
        elif _BARE.get(value) == name:
            words.append(value)
        else:
            words.append(f"{name}={value}")
    return " ".join(words)


def parse(ctx: str) -> Context:
    """The context of a canonical text; also reads the loose form `batch, region=EU, deployment=GlobalBatch`."""
    context: Context = {}
    for word in ctx.replace(",", " ").split():
        name, equals, value = word.partition("=")
        if equals and name == "deployment" and value.lower() in _DEPLOYMENTS:
            context.update(_DEPLOYMENTS[value.lower()])
        elif equals:
            given = value if name in TERMS else value.lower()
            context["service_tier" if name == "tier" else name] = given
        elif word == "contract":
            context["contract"] = "yes"
        elif word != "standard":
            context[_BARE.get(word, "service_tier")] = word
    return context


def fits(asked: str, value: str) -> bool:
    """Whether a value is what a rule asks for: the same, one of `a|b`, or `any`."""
    return asked in ("any", value) or value in asked.split("|")


def selectors(context: Context) -> Context:
    return {name: context[name] for name in SELECTORS if name in context}
