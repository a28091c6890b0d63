"""Calls find their own answers, and nothing else is taken for one."""

import anyio
import pytest

from rio_core.client import start_core
from rio_core.protocol import RioError
from rio_core.protocol.ops.buffer import LinesResult

pytestmark = pytest.mark.anyio


async def test_a_result_is_its_type_and_unknown_fields_are_tolerated(core):
    body = """
greet()
answer(read(), {"revision": 1, "first": 0, "lines": ["a"], "lengths": [1], "total": 1, "later": True})
serve_out()
"""
    async with start_core(project=None, command=core(body)) as client:
        result = await client.call("buffer.lines", buffer="b", first=0, count=1)
    assert result == LinesResult(revision=1, first=0, lines=["a"], lengths=[1], total=1)
    assert client.hello.instance == "i"


async def test_answers_in_any_order_reach_their_calls(core):
    body = """
greet()
requests = [read() for _ in range(50)]
for request in reversed(requests):
    answer(request, {"text": request["params"]["queued"]})
serve_out()
"""
    texts: dict[int, str] = {}

    async with start_core(project=None, command=core(body)) as client:

        async def ask(number: int) -> None:
            texts[number] = (await client.call("agent.unqueue", queued=str(number))).text

        async with anyio.create_task_group() as tasks:
            for number in range(50):
                tasks.start_soon(ask, number)
    assert texts == {number: str(number) for number in range(50)}


async def test_a_refusal_is_the_error_that_the_core_sent(core):
    body = """
greet()
refuse(read(), "not_found", "a.txt is not there.", "Choose another.")
serve_out()
"""
    async with start_core(project=None, command=core(body)) as client:
        with pytest.raises(RioError) as caught:
            await client.call("buffer.open", path="a.txt")
    assert (caught.value.kind, caught.value.message, caught.value.action) == (
        "not_found", "a.txt is not there.", "Choose another.",
    )  # fmt: skip


async def test_J08_answers_with_unknown_reused_or_loosely_equal_ids_are_dropped(core):
    body = """
greet()                                # id 1, answered
write({"jsonrpc": "2.0", "id": 1, "result": {"text": "reused"}})
request = read()                       # id 2
for stray in (3, 99, -2, "2", None):
    write({"jsonrpc": "2.0", "id": stray, "result": {"text": "stray"}})
for raw in (b"true", b"2.0", b"2e0", b'"2"', b"[2]"):
    sys.stdout.buffer.write(b'{"jsonrpc":"2.0","id":' + raw + b',"result":{"text":"loose"}}\\n')
sys.stdout.buffer.write(b'{"jsonrpc":"2.0","id":2,"id":2,"result":{"text":"twice"}}\\n')
sys.stdout.buffer.write(b'not json\\n')
answer(request, {"text": "right"})
answer(request, {"text": "again"})
request = read()                       # id 3: the stray answer to it came before it was asked
answer(request, {"text": "right too"})
serve_out()
"""
    async with start_core(project=None, command=core(body)) as client:
        assert (await client.call("agent.unqueue", queued="q")).text == "right"
        assert (await client.call("agent.unqueue", queued="q")).text == "right too"


async def test_J08_an_id_of_true_or_1_0_never_answers_call_1(core):
    body = """
request = read()
for raw in (b"true", b"1.0", b'"1"'):
    sys.stdout.buffer.write(
        b'{"jsonrpc":"2.0","id":' + raw + b',"error":{"code":1,"message":"taken loosely"}}\\n')
answer(request, HELLO)
serve_out()
"""
    async with start_core(project=None, command=core(body)) as client:
        assert client.hello.version == "1"


async def test_an_answer_that_is_not_the_ops_result_is_an_error_and_the_next_call_works(core):
    body = """
greet()
answer(read(), {"text": 5})
request = read()
write({"jsonrpc": "2.0", "id": request["id"], "error": "what?"})
answer(read(), {"text": "fine"})
serve_out()
"""
    async with start_core(project=None, command=core(body)) as client:
        for _ in range(2):
            with pytest.raises(RioError) as caught:
                await client.call("agent.unqueue", queued="q")
            assert caught.value.kind == "internal"
            assert "agent.unqueue" in caught.value.message
        assert (await client.call("agent.unqueue", queued="q")).text == "fine"


async def test_a_cancelled_call_leaves_the_connection_in_order(core):
    body = """
greet()
slow = read()
answer(read(), {"text": "second"})
answer(slow, {"text": "late"})
answer(read(), {"text": "third"})
serve_out()
"""
    async with start_core(project=None, command=core(body)) as client:
        with anyio.move_on_after(0.05):
            await client.call("agent.unqueue", queued="1")
        assert (await client.call("agent.unqueue", queued="2")).text == "second"
        assert (await client.call("agent.unqueue", queued="3")).text == "third"


async def test_many_large_calls_at_once_do_not_stall_or_mix(core):
    body = """
greet()
for _ in range(20):
    request = read()
    answer(request, {"text": request["params"]["queued"]})
serve_out()
"""
    texts = [chr(97 + number) * 400_000 for number in range(20)]
    got: list[str] = []

    async with start_core(project=None, command=core(body)) as client:

        async def ask(text: str) -> None:
            got.append((await client.call("agent.unqueue", queued=text)).text)

        async with anyio.create_task_group() as tasks:
            for text in texts:
                tasks.start_soon(ask, text)
    assert sorted(got) == texts
