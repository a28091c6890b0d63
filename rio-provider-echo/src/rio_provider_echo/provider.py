"""A provider, complete and small: it says what it is, and answers a request by posting events."""

import itertools
import re
from collections.abc import Iterator, Sequence
from typing import Final

import anyio

from rio_core.api import (
    Delta,
    Done,
    Failure,
    Message,
    Model,
    Post,
    ProviderInfo,
    Request,
    SettingSpec,
    Setup,
    Text,
    Thinking,
    ToolCall,
    ToolUse,
    Usage,
)
from rio_provider_echo import script

__all__ = ["Echo"]

PLAYED_OUT: Final = "echo: done"
"""What is said after tool results when the script has nothing more to say, so that the turn ends."""


class Echo:
    """Repeats what it is told, and plays scripts. It keeps nothing: all that it needs is in the conversation."""

    info = ProviderInfo(
        name="echo",
        title="Echo",
        settings=(
            SettingSpec(
                key="delay",
                title="Seconds between words",
                type="number",
                default=0,
                help="Slows the reply down, to see it stream.",
            ),
        ),
    )

    async def respond(self, request: Request, post: Post) -> None:
        """Answer the last text of the user, or go on with the script that it holds."""
        text, answered = _last_text(request.messages)
        answer = _Answer(request, post)
        if not script.is_script(text):
            if answered:
                await answer.end_with(PLAYED_OUT)
            else:
                await answer.repeat(text)
            return
        try:
            answers = script.parse(text)
        except script.ScriptError as error:
            await answer.end_with(f"echo: {error}")
            return
        if answered < len(answers):
            await answer.play(answers[answered])
        else:
            await answer.end_with(PLAYED_OUT)

    async def models(self, setup: Setup) -> Sequence[Model]:
        """There is one."""
        return [Model("echo", "Echo")]


class _Answer:
    """One answer. Each post is awaited, so that a slow front end can hold it back."""

    def __init__(self, request: Request, post: Post) -> None:
        self._post = post
        self._delay = float(request.setup.settings["delay"])
        self._ids = _unused_ids(request.messages)

    async def repeat(self, text: str) -> None:
        reply = f"echo: {text}"
        await self._stream(Delta, reply)
        await self._post(Done("end_turn", Usage(input=len(text.split()), output=len(reply.split()))))

    async def end_with(self, text: str) -> None:
        await self._stream(Delta, text)
        await self._post(Done("end_turn"))

    async def play(self, steps: Sequence[script.Step]) -> None:
        stop = "end_turn"
        in_text = False
        for step in steps:
            match step:
                case script.Say(text):
                    await self._stream(Delta, f"\n{text}" if in_text else text)
                case script.Think(text):
                    await self._stream(Thinking, text)
                case script.Call(name, given):
                    await self._post(ToolCall(next(self._ids), name, given))
                    stop = "tool_use"
                case script.Pause(seconds):
                    await anyio.sleep(seconds)
                case script.Flood(count):
                    for number in range(1, count + 1):
                        await self._post(Delta(f"{number} "))
                case script.Fail(kind, message):
                    await self._post(Failure(kind, message, "This failure was scripted: send something else."))
                    return
                case script.Stop(reason):
                    stop = reason
                case script.Raise(text):
                    raise RuntimeError(text)
                case script.Silent():
                    return
            if not isinstance(step, script.Pause):
                in_text = isinstance(step, script.Say | script.Flood)
        await self._post(Done(stop))

    async def _stream(self, kind: type[Delta] | type[Thinking], text: str) -> None:
        # A word with the white space before it, so that the chunks join to exactly the text.
        for number, chunk in enumerate(re.findall(r"\s*\S+|\s+", text)):
            if number and self._delay:
                await anyio.sleep(self._delay)
            await self._post(kind(chunk))


def _last_text(messages: Sequence[Message]) -> tuple[str, int]:
    """The last text of the user, and how often it has been answered."""
    answered = 0
    for message in reversed(messages):
        if message.role == "assistant":
            answered += 1
            continue
        for block in reversed(message.blocks):
            if isinstance(block, Text):
                return block.text, answered
    return "", answered


def _unused_ids(messages: Sequence[Message]) -> Iterator[str]:
    """Ids for calls that the conversation does not hold; the same ones for the same conversation."""
    used = {block.id for message in messages for block in message.blocks if isinstance(block, ToolUse)}
    return (name for number in itertools.count(1) if (name := f"echo-{number}") not in used)
