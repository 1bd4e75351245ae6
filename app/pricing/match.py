"""Which priced model a logged name means: exact, then dated and prefixed forms, aliases; never by substring.

Every rule must account for the whole name: a known prefix or region in front, a date or build behind. A name that is
left with an unexplained rest is unresolved, because a wrong price is worse than none.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from app.core.view import UNASSIGNED
from app.pricing.context import is_deployment_type, parse

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from app.pricing.listprices import Clause, ListModel, ListProvider
    from app.pricing.rules import Alias

"""What a price file calls the provider of requests whose provider nobody names, as every page does."""
_BUILD: Final = (
    r"[-@._]20\d{6}|[-@._]20\d{2}-\d{2}-\d{2}|-\d{2}-\d{2}-20\d{2}|-\d{2}-20\d{2}|-\d{2}-\d{2}|[-@]\d{3,4}"
    r"|[-.@]v\d+(?:[.:]\d+)*|:\d+|-latest|@latest|@default|-preview|-exp|-experimental|[-:]thinking|:beta|-instruct"
)
_BUILDS: Final = re.compile(rf"(?:{_BUILD})*")
_LAST_BUILD: Final = re.compile(r"(.+?)(?:[-@]20\d{6}|[-@]20\d{2}-\d{2}-\d{2}|-latest|@latest|@default|:beta)")
_NUMBERED: Final = re.compile(r"(gemini-.+)-00\d")
_COMPACT_DATE: Final = re.compile(r"-(20\d{2})(0[1-9]|1[0-2])([0-2]\d|3[01])(?=-|:|$)")
_VERSIONED: Final = re.compile(r"[-@.]20\d{2}-?\d{2}-?\d{2}")
_LONG_CONTEXT: Final = re.compile(r"\[\d+[km]\]$")
_FINE_TUNED: Final = re.compile(r"(ft:[^:]+)(?::.*)?")
_BEDROCK_REGION: Final = re.compile(r"(?:us|eu|apac|jp|au|ca|in|sa|me|af)\.")
_BEDROCK_NAME: Final = re.compile(
    r"(?:(?:us-gov|us|eu|apac|jp|au|ca|in|sa|me|af|global)\.)?"
    r"(?:anthropic|amazon|meta|mistral|cohere|ai21|deepseek|qwen|openai|writer|nvidia|minimax|moonshotai?|xai|zai)\."
)
_BEDROCK_FRONT: Final = re.compile(r"(?:(?:us|eu|apac|jp|au|ca|in|sa|me|af|global)\.)?(?:[a-z0-9]+\.)?")
_GOV_CLOUD: Final = "us-gov."
_GOV_REGION: Final = "us-gov-west-1"
_AWS_PLACE: Final = re.compile(r"((?:us-gov|us|eu|ap|ca|sa|me|af|il|mx)-[a-z]+-\d)/")
_ARN: Final = re.compile(r"arn:aws[^:]*:bedrock:([^:]*):[^:]*:[^/]+/(.+)")
_VERTEX_BUILD: Final = re.compile(r".+@(?:20\d{6}|default|latest)")
_PATH: Final = re.compile(r"(?:projects/[^/]+/locations/[^/]+/)?publishers/[^/]+/models/")
_ROUTES: Final = ("models/", "converse/", "invoke/", "converse_like/", "responses/", "chat/", "deployments/", "text/")


@dataclass(frozen=True, slots=True)
class Match:
    """What a name means: `provider` served it, `price_provider`/`price_model` price it, `rule` says how it was found.

    `ctx` is what the name itself says about the price: the type of an Azure deployment, the region of an ARN.
    `own` is False where the serving provider has no price list entry and passes on another provider's price.
    """

    provider: str
    price_provider: str
    price_model: str
    own: bool
    rule: str
    ctx: tuple[tuple[str, str], ...] = ()


class Matcher:
    """Finds the priced model of names as logged."""

    def __init__(
        self,
        providers: Sequence[ListProvider],
        models: Iterable[ListModel],
        aliases: Sequence[Alias],
        names: dict[str, str],
        added: Iterable[tuple[str, str]] = (),
    ) -> None:
        """Names and models that can be found.

        Args:
            providers: of the price list, with the names that each claims.
            models: of the price list.
            aliases: names that nothing but a rule explains.
            names: other names of providers to ours ('' means unknown), with the context that the name says, if any.
            added: (provider, model) of rules.
        """
        self._providers = {item.provider: item for item in providers}
        self._names = {name: ours.partition(" ")[0] for name, ours in names.items()}
        self._marks = {name: parse(rest) for name, ours in names.items() if (rest := ours.partition(" ")[2])}
        self._exact: dict[str, dict[str, str]] = defaultdict(dict)
        self._clauses: dict[str, list[tuple[str, Clause]]] = defaultdict(list)
        for model in models:
            self._clauses[model.provider].append((model.model, model.match))
            for literal in _literals(model.match):
                self._exact[model.provider].setdefault(literal, model.model)
        for model in models:
            self._exact[model.provider][model.model.lower()] = model.model
        for provider, name in added:
            known = self._exact[provider].get(name.lower())
            if known is None or known.lower() != name.lower():  # the list's own spelling stays
                self._exact[provider][name.lower()] = name
        self._aliases = {(alias.provider, alias.name): alias for alias in aliases}

    def provider(self, name: str | None) -> str | None:
        """Our name of a provider, None where it says nothing (a proxy) or nothing is given."""
        if name is None:
            return None
        plain = name.strip().lower()
        if plain in self._names:
            return self._names[plain] or None
        return plain or None

    def find(
        self, provider: str | None, model: str | None, base_model: str | None = None, deployment: str | None = None
    ) -> Match | None:
        """The priced model of a logged (provider, model), or None where nothing accounts for the whole name.

        A `deployment` (Azure) that an alias names comes first, because a response often says only the family. Where
        none names it, only a model with its version tells what was deployed: a bare family may be dearer or cheaper.
        `base_model` is asked where the name itself, usually a deployment's, is unknown.
        """
        found = self._named(self.provider(provider), model, base_model, deployment)
        for name in (provider, (model or "").partition("/")[0]):
            seller = (name or "").strip().lower()
            if found is not None and seller in self._marks and found.provider == self.provider(seller):
                return replace(found, ctx=(*self._marks[seller].items(), *found.ctx))
        return found

    def _named(
        self, given: str | None, model: str | None, base_model: str | None, deployment: str | None
    ) -> Match | None:
        if deployment is not None and not is_deployment_type(deployment):
            deployed = deployment.strip().lower()
            alias = self._aliases.get((given, deployed)) or self._aliases.get((None, deployed))
            if alias is not None and (found := self._aliased(given, alias)) is not None:
                return found
            if given == "azure" and not (model and _VERSIONED.search(model)):
                model = None
        for name in (model, base_model):
            if name and (found := self._find(given, name.strip().lower())) is not None:
                return found
        return None

    def _find(self, provider: str | None, name: str) -> Match | None:
        tried: set[tuple[str | None, str]] = set()
        for where, form in self._forms(provider, name):
            if (where, form) in tried:
                continue
            tried.add((where, form))
            alias = self._aliases.get((where, form)) or self._aliases.get((None, form))
            if alias is not None:
                found = self._aliased(where, alias)
                if found is not None:
                    return found
            found = self._claimed(form) if where is None else self._at(where, form)
            if found is not None:
                place = _place(name) if found.provider == "aws" else None
                return found if place is None else replace(found, ctx=(("region", place), *found.ctx))
        return None

    def _aliased(self, provider: str | None, alias: Alias) -> Match | None:
        target = self._names.get(alias.to_provider or "", alias.to_provider) or provider
        found = self._unique(alias.model) if target is None else self._at(target, alias.model)
        if found is None:
            return None
        return Match(
            provider or found.provider,
            found.price_provider,
            found.price_model,
            own=provider in (None, found.price_provider),
            rule="alias",
            ctx=tuple(sorted(alias.ctx.items())),
        )

    def _forms(self, provider: str | None, name: str) -> Iterator[tuple[str | None, str]]:
        """The name as it stands, then without what is known to stand in front of or behind a model's name."""
        yield provider, name
        if (arn := _ARN.fullmatch(name)) is not None:
            yield from self._plain_forms("aws", arn.group(2))
            return
        where, rest = provider, name
        if (path := _PATH.match(rest)) is not None:
            where, rest = provider or "google", rest[path.end() :]
        yield from self._plain_forms(where, rest)
        while "/" in rest:
            route = next((route for route in _ROUTES if rest.startswith(route)), None)
            place = _AWS_PLACE.match(rest)
            if route is not None:
                rest = rest.removeprefix(route)
            elif place is not None:
                rest = rest[place.end() :]
            else:
                head, _, tail = rest.partition("/")
                named = self.provider(head)
                if head not in self._names and head not in self._providers and head not in self._exact:
                    return
                if named is not None and where not in (None, "openai", named):
                    return  # a reseller's own list does not know the name: another provider's price is not its price
                where, rest = named or where, tail
            yield from self._plain_forms(where, rest)

    def _plain_forms(self, provider: str | None, name: str) -> Iterator[tuple[str | None, str]]:
        where = provider
        if where is None and _BEDROCK_NAME.match(name):
            where = "aws"
        elif where is None and _VERTEX_BUILD.fullmatch(name):
            where = "google"
        name = _LONG_CONTEXT.sub("", name)
        yield where, name
        if (tuned := _FINE_TUNED.fullmatch(name)) is not None:
            yield where, tuned.group(1)
            yield where, re.sub(r"-20\d{2}-\d{2}-\d{2}$", "", tuned.group(1))
            return
        dashed = _COMPACT_DATE.sub(r"-\1-\2-\3", name)
        if dashed != name:
            yield where, dashed
        if (undated := _LAST_BUILD.fullmatch(name)) is not None:
            yield where, undated.group(1)
        if where in (None, "google") and (numbered := _NUMBERED.fullmatch(name)) is not None:
            yield where, numbered.group(1)
        if where == "aws" and (region := _BEDROCK_REGION.match(name)) is not None:
            yield where, name[region.end() :]
        if where == "aws" and name.startswith(_GOV_CLOUD):  # the model in that cloud: `_place` says so
            yield where, name.removeprefix(_GOV_CLOUD)

    def _at(self, provider: str, name: str) -> Match | None:
        model = self._of(provider, name)
        if model is not None and (not name.startswith("us-gov.") or model == name):
            return Match(provider, provider, model, own=True, rule=self._how(provider, name))
        listed = self._providers.get(provider)
        for fallback in () if listed is None else listed.fallbacks:
            model = self._of(fallback, name)
            if model is not None:
                return Match(provider, fallback, model, own=False, rule="list price of " + fallback)
        return None

    def _claimed(self, name: str) -> Match | None:
        """A name without a provider, read as the provider that claims it reads it: its own aliases hold."""
        found = self._unique(name)
        alias = None if found is None else self._aliases.get((found.provider, name))
        return found if found is None or alias is None else self._aliased(found.provider, alias) or found

    def _unique(self, name: str) -> Match | None:
        """A name without a provider: priced as `unassigned`, else where one provider alone claims and prices it."""
        given = self._exact.get(UNASSIGNED, {}).get(name)
        if given is not None:
            return Match(UNASSIGNED, UNASSIGNED, given, own=True, rule="exact")
        claims: list[Match] = []
        for provider, item in self._providers.items():
            if item.model_match is not None and _loosely(item.model_match, name):
                model = self._of(provider, name)
                if model is not None:
                    claims.append(Match(provider, provider, model, own=True, rule="provider by name"))
        if not claims:
            priced = [p for p, exact in self._exact.items() if name in exact and p not in self._providers]
            claims = [Match(p, p, self._exact[p][name], own=True, rule="provider by name") for p in priced]
        return claims[0] if len(claims) == 1 else None

    def _how(self, provider: str, name: str) -> str:
        return "exact" if name in self._exact[provider] else "build"

    def _of(self, provider: str, name: str) -> str | None:
        exact = self._exact.get(provider, {}).get(name)
        if exact is not None:
            return exact
        best: tuple[int, str] | None = None
        for model, clause in self._clauses.get(provider, ()):
            strength = _strength(clause, name)
            if strength and (best is None or strength > best[0]):
                best = (strength, model)
        return None if best is None else best[1]


def _place(name: str) -> str | None:
    """The AWS region that a name says: of an ARN, or of a part in front as LiteLLM's routes write it."""
    if (arn := _ARN.fullmatch(name)) is not None and arn.group(1):
        return arn.group(1)
    if _GOV_CLOUD in name:
        return _GOV_REGION  # both of its regions cost the same; the one that a log names comes before this
    return next((found.group(1) for part in name.split("/")[:-1] if (found := _AWS_PLACE.fullmatch(part + "/"))), None)


def _literals(clause: Clause) -> Iterator[str]:
    kind, value = clause
    if kind == "eq":
        yield value
    elif kind == "or":
        for part in value:
            yield from _literals(part)


def _strength(clause: Clause, name: str) -> int:
    """0 where the clause does not account for the whole name, else how many characters of it are the model's own."""
    kind, value = clause
    if kind == "or":
        return max((_strength(part, name) for part in value), default=0)
    if kind == "and":
        strengths = [_strength(part, name) for part in value]
        return max(strengths) if all(strengths) else 0
    if kind == "eq":
        return 1000 if name == value else 0
    if kind == "re":
        return 1 if re.search(value, name) else 0
    start = name.rfind(value)
    if start < 0 or (kind == "sw" and start > 0 and not name.startswith(value)):
        return 0
    if kind == "sw":
        start = 0
    end = start + len(value)
    if kind == "ew":
        return len(value) if end == len(name) and _at_edge(name, start) else 0
    return len(value) if _at_edge(name, start) and _only_builds(value, name[end:]) else 0


def _at_edge(name: str, start: int) -> bool:
    """Whether what stands before a model's name is nothing, or a region and a maker (`eu.anthropic.`)."""
    return _BEDROCK_FRONT.fullmatch(name, 0, start) is not None


def _only_builds(prefix: str, rest: str) -> bool:
    """Whether what follows a model's name is only dates, versions and build words.

    A list's prefix may end within one: `gpt-4o-2024`, `gemini-2.0-flash-0`.
    """
    tail = re.search(r"-20\d{2}$|[-@.:]$", prefix)
    begun = _BUILDS.fullmatch((tail.group() if tail else "") + rest) is not None
    return begun or (prefix.endswith("-0") and _BUILDS.fullmatch("-0" + rest) is not None)


def _loosely(clause: Clause, name: str) -> bool:
    """The library's own reading of a clause, used only to ask which providers claim a name at all."""
    kind, value = str(clause[0]), clause[1]
    if kind == "or":
        return any(_loosely(part, name) for part in value)
    if kind == "and":
        return all(_loosely(part, name) for part in value)
    if kind == "re":
        return re.search(value, name) is not None
    checks: dict[str, bool] = {
        "eq": name == value,
        "sw": name.startswith(value),
        "ew": name.endswith(value),
        "ct": value in name,
    }
    return checks[kind]
