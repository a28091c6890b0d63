"""One provider, contained: whatever it does, the core gets its events and exactly one end."""

import inspect
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, Protocol

import anyio

from rio_core._engine.plugins.faults import LoopLostError, PluginBlockedError, PluginFaultError, PluginLoopError
from rio_core._engine.plugins.loop import PluginLoop
from rio_core._engine.plugins.posted import plain, whole
from rio_core._engine.plugins.stream import Stream
from rio_core._engine.plugins.thread import GIVE_UP, Call
from rio_core.api import Done, Failure, FailureKind, PluginError, Post, Posted, Provider, Request, Setup, Waiting
from rio_core.api import Model as ApiModel
from rio_core.protocol.errors import RioError
from rio_core.protocol.ops.plugins import Model

__all__ = ["ProviderHandle", "Sink", "Source", "give"]

logger = logging.getLogger(__name__)

Sink = Callable[[Sequence[Posted]], Awaitable[None] | None]
"""Takes events on the core's loop. While what it returns is awaited, a provider that awaits its posts is held back."""

MODELS_WITHIN: Final = 30.0
"""Seconds that a provider has to list its models."""
MOST_MODELS: Final = 1_000


class Source(Protocol):
    """What a handle needs to know of the place it comes from."""

    loop: PluginLoop

    def setup(self, name: str) -> Setup:
        """How the user set the provider up."""
        ...

    def missing(self, name: str) -> Failure | None:
        """Why the provider cannot be asked yet."""
        ...

    def mask(self, text: str) -> str:
        """The text without secrets."""
        ...

    def fault(self, plugin: str, report: str) -> None:
        """Keep the traceback of a plugin's fault."""
        ...


class ProviderHandle:
    """A provider as the core uses it, on its own event loop, with the model that is chosen."""

    def __init__(
        self,
        source: Source,
        provider: Provider,
        *,
        name: str,
        model: str | None,
        plugin: str,
        distribution: str,
        version: str,
        homepage: str,
    ) -> None:
        self.name = name
        self.model = model
        self._source = source
        self._provider = provider
        self._plugin = plugin
        self._called = f"Provider {name} ({distribution} {version})"
        where = f": {homepage}" if homepage else "."
        self._report_at = f"Send again; if it stays, report it to the authors of {distribution}{where}"

    def setup(self) -> Setup:
        """How the user set the provider up."""
        return replace(self._source.setup(self.name), model=self.model)

    async def respond(self, request: Request, sink: Sink, *, idle_timeout: float = 600.0) -> None:
        """Let the provider answer, and give what it posts to `sink`, in order, the end last and once.

        A provider that raises, returns without an end, posts nonsense, blocks its loop, or posts nothing for
        `idle_timeout` seconds (and those that it said it would wait) ends in a Failure that says so. Cancelling returns
        within a second or so, whatever the provider does. Raises what `sink` raises.
        """
        missing = self._source.missing(self.name)
        if missing is not None:
            await give(sink, [missing])
            return
        stream = Stream(self._faulty)
        try:
            call = self._source.loop.start(self._plugin, _respond, self._provider, request, stream.post)
        except PluginLoopError as error:
            await give(sink, [self._failure(error)])
            return
        call.when_finished(stream.close)
        try:
            by_itself = await self._pass_on(call, stream, sink, idle_timeout)
            if by_itself:
                with anyio.move_on_after(GIVE_UP):
                    await call.wait()
                if isinstance(call.error, PluginFaultError):
                    self._keep(call.error)
        finally:
            await call.cancel()

    async def _pass_on(self, call: Call, stream: Stream, sink: Sink, idle_timeout: float) -> bool:
        """Give everything to the sink, up to the end; whether that was the provider's own."""
        patience = idle_timeout
        while True:
            events: list[Posted] = []
            by_itself = False
            with anyio.move_on_after(patience) as wait:
                events = await stream.next()
                by_itself = bool(events)
            if wait.cancelled_caught:
                events = stream.end(
                    Failure(
                        "network",
                        f"{self._called} has sent nothing for {patience:g} s and was stopped.",
                        "Send again; what came before is kept.",
                    )
                )
            elif not events:
                events = stream.end(self._failure(call.error))
            await give(sink, [self._masked(event) for event in events])
            stream.delivered(len(events))
            last = events[-1]
            if isinstance(last, Done | Failure):
                return by_itself
            patience = idle_timeout + (last.seconds if isinstance(last, Waiting) else 0.0)

    async def models(self) -> list[Model]:
        """The models that the provider names. Raises RioError."""
        missing = self._source.missing(self.name)
        if missing is not None:
            raise RioError("conflict", missing.message, missing.action)
        try:
            with anyio.fail_after(MODELS_WITHIN):
                models: list[Model] = await self._source.loop.run(self._plugin, _models, self._provider, self.setup())
            return models
        except TimeoutError:
            message = f"{self._called} did not list its models within {MODELS_WITHIN:g} s."
            raise RioError("conflict", message, "Try again, or give the model by its id.") from None
        except PluginFaultError as error:
            if type(error.error) is RioError:
                message, action = self._source.mask(error.error.message), self._source.mask(error.error.action)
                raise RioError("conflict", message, action) from None
            failure = self._failure(error)
        except PluginLoopError as error:
            failure = self._failure(error)
        raise RioError("internal", self._source.mask(failure.message), failure.action)

    # -- what went wrong ---------------------------------------------------------------------------------------

    def _failure(self, error: PluginLoopError | None) -> Failure:
        match error:
            case None:
                return Failure(
                    "unexpected_response",
                    f"{self._called} returned without ending its answer.",
                    self._report_at,
                )
            case PluginFaultError():
                self._keep(error)
                return self._faulty(f"failed: {error.line}")
            case PluginBlockedError():
                return self._faulty("blocked its event loop and is off until rio starts again")
            case LoopLostError(owner=owner) if owner:
                return Failure(
                    "internal",
                    f"The answer of {self._called} was cut off: plugin {owner} blocked its loop.",
                    "Send again.",
                )
            case _:
                return Failure("internal", f"{self._called} was stopped, as rio ends.", "Start rio again.")

    def _faulty(self, what: str) -> Failure:
        return Failure("internal", f"{self._called} {what}.", self._report_at)

    def _keep(self, error: PluginFaultError) -> None:
        report = self._source.mask(error.report)
        logger.warning("%s failed:\n%s", self._called, report)
        self._source.fault(self._plugin, report)

    def _masked(self, event: Posted) -> Posted:
        mask = self._source.mask
        match event:
            case Failure():
                return Failure(event.kind, mask(event.message), mask(event.action))
            case Waiting():
                return Waiting(event.seconds, mask(event.reason))
            case Done(detail=detail) if detail:
                return Done(event.stop, event.usage, mask(detail))
            case _:
                return event


async def give(sink: Sink, events: Sequence[Posted]) -> None:
    """Hand events to a sink, and wait while it is busy with them."""
    taken = sink(events)
    if inspect.isawaitable(taken):
        await taken


# -- on the plugin loop ------------------------------------------------------------------------------------------------


async def _respond(provider: Provider, request: Request, post: Post) -> None:
    try:
        await provider.respond(request, post)
    except PluginError as error:
        kind: FailureKind = getattr(error, "kind", "internal")
        await post(Failure(kind, error.message, error.action))


async def _models(provider: Provider, setup: Setup) -> list[Model]:
    try:
        models: Any = await provider.models(setup)
    except PluginError as error:
        message, action = whole(error.message, "the message"), whole(error.action, "the action")
        raise RioError("conflict", message, action) from error
    if isinstance(models, str | bytes) or not isinstance(models, Sequence):
        raise TypeError(f"models returned {type(models).__name__}, not a sequence of Model")
    return [_model(model) for model in models[:MOST_MODELS]]


def _model(model: Any) -> Model:
    if not isinstance(model, ApiModel):
        raise TypeError(f"models returned a {type(model).__name__} in place of a Model")
    name = whole(model.id, "the id of a model")
    if not name.strip():
        raise ValueError("models returned a Model with a blank id")
    detail = model.detail if model.detail is not None else {}
    if not isinstance(detail, Mapping):
        raise TypeError("the detail of a Model is no object")
    return Model(name, whole(model.title, "the title of a model"), plain(detail, "the detail of a model"))
