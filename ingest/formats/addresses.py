"""What a called address says beyond who served: the region, the Azure deployment, the model id at Bedrock.

Bodies do not repeat these: an Azure answer names a family, a Claude body at Bedrock the model without its route.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote

if TYPE_CHECKING:
    from app.core.usage import UsageEvent

_DEPLOYMENT: Final = re.compile(r"/deployments/([^/?#]+)")
_BEDROCK_MODEL: Final = re.compile(r"/model/([^/?#]+)/(?:invoke|converse)")
_REGIONS: Final = (
    re.compile(r"(?:^|//)([a-z]+-[a-z]+\d+)-aiplatform\.googleapis\.com"),
    re.compile(r"aiplatform\.(us|eu)\.rep\.googleapis\.com"),
    re.compile(r"/locations/([a-z]+-[a-z]+\d+|us|eu)/publishers/"),
    re.compile(r"bedrock[a-z-]*\.([a-z]{2}(?:-[a-z]+)+-\d)\.amazonaws\.com"),
    re.compile(r"(?:^|//)([a-z]{2})\.api\.(?:openai\.com|x\.ai)"),
)


def region_of(address: str) -> str | None:
    """The region that a called host or path says, None where it is the world's."""
    return next((hit.group(1) for rule in _REGIONS if (hit := rule.search(address))), None)


def note_capacity(event: UsageEvent) -> None:
    """A call of capacity bought on Bedrock is known by the model's ARN; a fixed fee pays for its tokens."""
    if event.model is not None and ":provisioned-model/" in event.model:
        event.service_tier = "provisioned"


def read_address(addresses: tuple[Any, ...], asked_model: Any, event: UsageEvent) -> None:
    """Complete `event`, whose provider is known, from the host and path that were called.

    Args:
        addresses: host, path or whole URL as logged; what is no text is passed over.
        asked_model: the `model` of the request, at Azure the name of a deployment.
        event: receives `region`, a Bedrock `model` and the `deployment` of its price context.
    """
    deployment = None
    for address in addresses:
        if type(address) is not str:
            continue
        event.region = event.region or region_of(address)
        if event.provider == "aws" and (called := _BEDROCK_MODEL.search(address)) is not None:
            event.model = unquote(called.group(1))
            note_capacity(event)
        if event.provider == "azure" and (named := _DEPLOYMENT.search(address)) is not None:
            deployment = unquote(named.group(1))
    if event.provider == "azure":
        _name_deployment(deployment or _own_name(asked_model, event.model), event)


def _own_name(asked: Any, answered: str | None) -> str | None:
    """The deployment that a request names as its model: known for one by an answer that says another name."""
    if type(asked) is not str or not asked or answered is None or answered.startswith(asked):
        return None
    return asked


def _name_deployment(deployment: str | None, event: UsageEvent) -> None:
    if deployment is not None and "deployment" not in (event.price_context or {}):
        event.price_context = {**(event.price_context or {}), "deployment": deployment}
