"""From the events of one answer to what is posted.

Source: Messages API, "Streaming" and "Stop reasons". Event names, deltas, blocks and stop reasons that are not known
are skipped or kept as they are; what is known and malformed is a failure.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from rio_core.api import Done, Failure, Posted, Usage
from rio_provider_claude.inference import failures
from rio_provider_claude.inference.blocks import Block, MalformedError, begin, string
from rio_provider_claude.inference.complaint import Complaint
from rio_provider_claude.inference.jsons import parse
from rio_provider_claude.inference.usage import Tally
from rio_provider_claude.inference.words import escaped, quoted

__all__ = ["Decoder"]

CUT: Final = ("max_tokens", "model_context_window_exceeded")


class _Coming:
    """A block in its place: posts of one that is not the first unfinished block wait for their turn."""

    __slots__ = ("block", "closed", "held")

    def __init__(self, block: Block) -> None:
        self.block = block
        self.held: list[Posted] = []
        self.closed = False


class Decoder:
    """One answer. `end` is set once nothing more is to be read; it is to be posted last.

    `request` names the request, in brackets, for messages. `hide` takes out of words what must not be shown.
    """

    def __init__(self, model: str, request_id: str = "", hide: Callable[[str], str] = str) -> None:
        self.end: Done | Failure | None = None
        self._model = model
        self._request_id = request_id
        self.request = Complaint(request_id=request_id).request(hide)
        self._hide = hide
        self._message = ""
        self._tally = Tally()
        self._coming: dict[int, _Coming] = {}
        self._lost = False  # a block was not understood: thoughts behind it cannot be sent back
        self._stop: str | None = None
        self._details: object = None
        self._sequence: object = None
        self._handlers: dict[str, Callable[[Mapping[str, Any]], Sequence[Posted]]] = {
            "content_block_delta": self._delta,
            "content_block_start": self._begin,
            "content_block_stop": self._close,
            "message_start": self._message_start,
            "message_delta": self._message_delta,
            "message_stop": self._message_stop,
            "error": self._error,
        }

    def take(self, data: str) -> Sequence[Posted]:
        """Add the data of one event; what is to be posted for it."""
        try:
            event = parse(data)
            if not isinstance(event, dict):
                raise MalformedError("an event is not an object")
            handler = self._handlers.get(string(event, "type"))
            return handler(event) if handler else ()
        except MalformedError as error:
            self.end = failures.malformed(str(error), self.request)
        except ValueError:
            self.end = failures.malformed("an event is not JSON", self.request)
        return self._so_far()

    def close(self, broken: Failure | None = None) -> Sequence[Posted]:
        """The bytes ended: cleanly, or as `broken` says. An answer that has its stop reason is whole all the same."""
        if self._stop is not None:
            try:
                return self._finish()
            except MalformedError as error:
                broken = failures.malformed(str(error), self.request)
        self.end = broken or failures.ended_early(self.request)
        return self._so_far()

    def usage(self) -> Usage | None:
        """The usage as last told."""
        return self._tally.usage(self._model, self._message) if self._tally else None

    def _so_far(self) -> Sequence[Posted]:
        usage = self.usage()
        return () if usage is None else (usage,)

    def _message_start(self, event: Mapping[str, Any]) -> Sequence[Posted]:
        message = event.get("message")
        if not isinstance(message, Mapping):
            raise MalformedError("“message” is not an object")
        self._message = escaped(message.get("id") or "", 100)
        self._model = escaped(message.get("model") or self._model, 100)
        self._tally.update(message.get("usage"))
        return ()

    def _begin(self, event: Mapping[str, Any]) -> Sequence[Posted]:
        index, start = event.get("index"), event.get("content_block")
        if not isinstance(index, int) or not isinstance(start, dict) or index in self._coming:
            raise MalformedError("a block begins without a place of its own")
        block, posts = begin(start)
        self._coming[index] = _Coming(block)
        return (*self._release(), *self._post(self._coming[index], posts))

    def _delta(self, event: Mapping[str, Any]) -> Sequence[Posted]:
        coming, delta = self._at(event), event.get("delta")
        if not isinstance(delta, Mapping):
            raise MalformedError("“delta” is not an object")
        return self._post(coming, coming.block.take(delta))

    def _close(self, event: Mapping[str, Any]) -> Sequence[Posted]:
        coming = self._at(event)
        coming.closed = True
        block = coming.block
        coming.held += block.cut() if block.bound and self._lost else block.close()
        self._lost |= block.lost
        return self._release()

    def _at(self, event: Mapping[str, Any]) -> _Coming:
        index = event.get("index")
        coming = self._coming.get(index) if isinstance(index, int) else None
        if coming is None or coming.closed:
            raise MalformedError("a part belongs to no open block")
        return coming

    def _post(self, coming: _Coming, posts: Sequence[Posted]) -> Sequence[Posted]:
        if coming is next(iter(self._coming.values())):
            return posts
        coming.held += posts
        return ()

    def _release(self) -> list[Posted]:
        """Post what waited for a block that is finished now. A doubtful one waits for what comes next."""
        posts: list[Posted] = []
        while self._coming:
            index, first = next(iter(self._coming.items()))
            if first.closed and first.block.doubtful and len(self._coming) == 1:
                break
            posts += first.held
            first.held = []
            if not first.closed:
                break
            del self._coming[index]
        return posts

    def _message_delta(self, event: Mapping[str, Any]) -> Sequence[Posted]:
        delta = event.get("delta")
        if not isinstance(delta, Mapping):
            raise MalformedError("“delta” is not an object")
        if delta.get("stop_reason") is not None:
            self._stop = string(delta, "stop_reason")
            self._details = delta.get("stop_details")
            self._sequence = delta.get("stop_sequence")
        self._tally.update(event.get("usage"))
        return ()

    def _message_stop(self, event: Mapping[str, Any]) -> Sequence[Posted]:
        if self._stop is None:
            raise MalformedError("the reply stops without a reason")
        return self._finish()

    def _finish(self) -> Sequence[Posted]:
        cut = self._stop in CUT
        if self._stop == "tool_use" and not all(coming.closed for coming in self._coming.values()):
            raise MalformedError("a call has no end")
        posts: list[Posted] = []
        last = next(reversed(self._coming.values()), None)
        for coming in self._coming.values():
            if cut and coming.closed and coming is last and coming.block.doubtful:
                continue
            posts += coming.held
            if not coming.closed:
                posts += coming.block.cut()
        self.end = Done(escaped(self._stop, 60), self.usage(), self._detail())
        return posts

    def _detail(self) -> str:
        match self._stop:
            case "max_tokens":
                return (
                    "The reply is cut off: it reached its limit of tokens. "
                    "Ask to go on, or raise the limit in Settings, Claude."
                )
            case "model_context_window_exceeded":
                return (
                    "The reply is cut off: the conversation fills what the model can hold. "
                    "Begin a new conversation, or choose a model with a larger window."
                )
            case "stop_sequence":
                return f"The reply stopped at{quoted(self._sequence)}." if self._sequence else ""
            case "refusal":
                details = self._details if isinstance(self._details, Mapping) else {}
                category = details.get("category")
                named = f"category “{escaped(category, 60)}”" if category else "no category was named"
                said = quoted(self._hide(str(details.get("explanation") or "")))
                return f"Claude declined to answer ({named}){said}."
            case _:
                return ""

    def _error(self, event: Mapping[str, Any]) -> Sequence[Posted]:
        complaint = Complaint.of_event(event, self._request_id)
        self.end = failures.in_stream(complaint, self._model, self._hide)
        return self._so_far()
