"""Each rule of the strict checker can fail."""

import pytest

from rio_core.api import Message, Opaque, Text, Thought, ToolResult, ToolUse
from support.strict import faults


def user(*blocks):
    return Message("user", blocks)


def model(*blocks):
    return Message("assistant", blocks)


ASK = user(Text("do"))
CALL = model(ToolUse("1", "fs_list", {}))
ANSWER = user(ToolResult("1", "a.py"))


def test_a_conversation_with_everything_in_it_is_valid():
    conversation = [
        ASK,
        model(
            Thought("", native={"signature": "x"}),
            Opaque({"type": "new"}),
            Text("I look."),
            ToolUse("1", "fs_list", {"path": "é"}),
            ToolUse("2", "fs_read", {}),
        ),
        user(ToolResult("2", "no", is_error=True), ToolResult("1", "a.py"), Text("and hurry")),
        model(Text("done")),
    ]
    assert faults(conversation) == []
    assert faults([]) == []


@pytest.mark.parametrize(
    ("expected", "conversation"),
    [
        ("first message is not the user's", [model(Text("hi"))]),
        ("comes twice in a row", [ASK, ASK]),
        ("does not exist", [ASK, Message("system", (Text("x"),))]),
        ("there is no block", [user()]),
        ("there is no block", [Message("user", [Text("a list")])]),
        ("ToolUse is no block of the role 'user'", [user(ToolUse("1", "n", {})), model(Text("x"))]),
        ("ToolResult is no block of the role 'assistant'", [ASK, model(ToolResult("1", "x"))]),
        ("Text is blank", [user(Text(" \n\t\u2003"))]),
        ("ToolResult is blank", [ASK, CALL, user(ToolResult("1", "\n"))]),
        ("Thought is blank", [ASK, model(Thought(""), Text("x"))]),
        ("Opaque is empty", [ASK, model(Opaque(None))]),
        ("'1' occurs 2 times", [ASK, CALL, ANSWER, CALL, ANSWER]),
        ("an id or a name is empty", [ASK, model(ToolUse("", "n", {})), user(ToolResult("", "x"))]),
        ("input is no object", [ASK, model(ToolUse("1", "n", "{}")), ANSWER]),
        ("is not JSON in UTF-8", [user(Text("half \ud83d"))]),
        ("is not JSON in UTF-8", [ASK, model(ToolUse("1", "n", {"x": float("nan")})), ANSWER]),
        ("is not JSON in UTF-8", [ASK, model(ToolUse("1", "n", {"x": b"bytes"})), ANSWER]),
        ("is not JSON in UTF-8", [ASK, model(ToolUse("1", "n", {"x": [{1: "a number as name"}]})), ANSWER]),
        ("is not JSON in UTF-8", [ASK, model(Text("x", native={"deep": ["\udfff"]}))]),
        ("answers no call of the message before", [user(ToolResult("9", "x"))]),
        ("'1' is answered 2 times", [ASK, CALL, user(ToolResult("1", "x"), ToolResult("1", "y"))]),
        ("message 2: the call '1' is not answered", [ASK, CALL, user(Text("x"))]),
        ("message 2: the call '1' is not answered", [ASK, CALL, user(Text("x")), model(Text("y")), ANSWER]),
        ("something stands before a result", [ASK, CALL, user(Text("x"), ToolResult("1", "x"))]),
        ("of the last message is not answered", [ASK, CALL]),
    ],
)
def test_each_rule_can_fail(expected, conversation):
    assert any(expected in fault for fault in faults(conversation))


def test_a_call_whose_user_has_not_decided_may_wait_in_the_last_message_only():
    assert faults([ASK, CALL], waiting=["1"]) == []
    assert faults([ASK, CALL, user(Text("x"))], waiting=["1"]) != []
