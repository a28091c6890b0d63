"""The models of the service, and what each takes.

Source: Messages API, "List models" and "Get a model".
"""

import ssl
from collections.abc import Mapping, MutableMapping
from typing import Any, Final
from urllib.parse import quote

import httpx

from rio_core.api import Failure, Model, ProviderError
from rio_provider_claude.inference import failures
from rio_provider_claude.inference.capability import Capability, told
from rio_provider_claude.inference.channel import Channel, body
from rio_provider_claude.inference.complaint import Complaint
from rio_provider_claude.inference.jsons import parse
from rio_provider_claude.inference.retry import wanted
from rio_provider_claude.inference.table import table

__all__ = ["known", "listed", "shipped"]

Told = MutableMapping[tuple[str, str], Capability]

PAGES: Final = 20
SECONDS: Final = 20.0
LARGEST: Final = 4 * 1024 * 1024


async def known(name: str, client: httpx.AsyncClient, channel: Channel, answers: Told) -> Capability:
    """What the model takes: as the service told, else by the shipped table, else by asking for this one model.

    Of a model that nobody knows only the id is sent, and a modest limit.
    """
    place = (channel.options.base, name)
    found = answers.get(place) or table().model(name)
    if found is not None:
        return found
    try:
        entry = await _get(client, channel, f"/v1/models/{quote(name, safe='')}", {})
    except ProviderError:
        return Capability(name, name)
    found = _capability({**entry, "id": name})
    answers[place] = found
    return found


async def listed(channel: Channel, answers: Told) -> list[Model]:
    """The service's list, the default first. Raises `ProviderError`. What each model takes is kept in `answers`."""
    entries: list[Mapping[str, Any]] = []
    query: dict[str, str | int] = {"limit": 1000}
    async with channel.client() as client:
        for _ in range(PAGES):
            page = await _get(client, channel, "/v1/models", query)
            data = page.get("data")
            if isinstance(data, list):
                entries += [entry for entry in data if isinstance(entry, Mapping) and isinstance(entry.get("id"), str)]
            last = page.get("last_id")
            if page.get("has_more") is not True or not isinstance(last, str):
                break
            query["after_id"] = last
    for entry in entries:
        answers[channel.options.base, entry["id"]] = _capability(entry)
    models = [_model(answers[channel.options.base, entry["id"]], "the service's list", entry) for entry in entries]
    return sorted(models, key=lambda model: model.id != table().default)


def shipped(reason: str) -> list[Model]:
    """The shipped table, for when the list cannot be had."""
    source = f"the table of {table().dated} that comes with this provider: {reason}"
    return [_model(model, source, {}) for model in table().models.values()]


def _capability(entry: Mapping[str, Any]) -> Capability:
    name = entry["id"]
    return told(entry) or table().model(name) or Capability(name, str(entry.get("display_name") or name))


def _model(model: Capability, source: str, entry: Mapping[str, Any]) -> Model:
    price = table().price(model.id)
    detail: dict[str, Any] = {"source": source, "efforts": [*model.efforts], "thinking": [*model.thinking]}
    detail |= {"window": model.window, "max_output": model.max_output}
    detail |= {name: entry.get(name) for name in ("lifecycle", "deprecated_at", "retires_at")}
    if price is not None:
        detail["price"] = f"${price.input:g} in, ${price.output:g} out a million tokens ({table().dated})"
    return Model(model.id, model.title, {name: value for name, value in detail.items() if value not in (None, [])})


async def _get(
    client: httpx.AsyncClient, channel: Channel, path: str, query: Mapping[str, str | int]
) -> Mapping[str, Any]:
    hide = channel.hide
    try:
        async with client.stream("GET", f"{channel.options.base}{path}", params=dict(query)) as response:
            content = await body(response, LARGEST, SECONDS)
    except (httpx.HTTPError, ssl.SSLError) as error:
        raise _error(failures.unreachable(error, channel.host, hide)) from None
    status, headers = response.status_code, response.headers
    complaint = Complaint.of_body(content, headers.get("request-id", ""))
    if 300 <= status < 400:
        raise _error(failures.redirected(status, headers.get("location", ""), hide))
    if status != 200:
        waits = wanted(headers) is not None
        raise _error(failures.answered(status, complaint, "this one", hide, waits=waits))
    try:
        page = parse(content.decode("utf-8", "replace"))
    except ValueError:
        page = None
    if not isinstance(page, Mapping):
        raise _error(failures.malformed("the list of models is not JSON", complaint.request(hide)))
    return page


def _error(failure: Failure) -> ProviderError:
    return ProviderError(failure.kind, failure.message, failure.action)
