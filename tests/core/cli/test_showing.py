"""What a turn looks like, and that nothing which it is told can do more than be read."""

import re
import subprocess

import pytest

HOSTILE = "\\x1b[2K\\x1b]52;c;QQ==\\x07\\x1b]8;;http://x\\x1b\\\\\\u202e\\U000e0041\\u200b\\xa0\\r"
DRAWN = r"\u{1B}[2K\u{1B}]52;c;QQ==\u{7}\u{1B}]8;;http://x\u{1B}\\u{202E}\u{E0041}\u{200B}\u{A0}\u{D}"
SGR = re.compile(r"\x1b\[[0-9;]*m")

EVERYTHING = f"""
h = "{HOSTILE}"
until("agent.send")
event("thinking", text="t" + h)
event("delta", text="d" + h)
event("waiting", seconds=7.0, reason="w" + h)
event("tool", call="1", name="n" + h, input={{"k" + h: "v" + h}})
event("output", call="1", stream="stdout", text="o" + h)
event("tool_result", call="1", ok=True, summary="s" + h)
event("tool", call="2", name="x", input="i" + h)
event("tool_result", call="2", ok=False, summary="f" + h)
propose(path="p" + h, marks=["m" + h], diff="@@ -1 +1 @@\\n-a" + h + "\\n+b" + h + "\\n")
until("agent.approve")
resolved(outcome="refused", message="r" + h)
event("error", kind="server", message="e" + h, action="a" + h)
serve_out()
"""


def run(core, *arguments: str, **more) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*core.command, *arguments], capture_output=True, text=True, timeout=20, **more)


def test_U10_M06_every_text_of_a_turn_is_harmless_on_a_pipe(played):
    done = run(played(EVERYTHING), "agent", "--project", "/", "go", stdin=subprocess.DEVNULL)
    assert done.returncode == 1
    both = done.stdout + done.stderr
    assert not [char for char in both if ord(char) < 32 and char != "\n"]
    shown = both.replace('"v\\u001b', "")  # values with quotes or backslashes are drawn as JSON
    for start in ("t", "d", "w", "n", "o", "s", "f", "p", "m", "a", "b", "r", "e"):
        assert f"{start}{DRAWN}" in shown, start


def test_U10_M06_every_text_of_a_turn_is_harmless_at_a_terminal(played, user):
    at = user([*played(EVERYTHING).command, "agent", "--project", "/", "go"])
    at.is_asked("[q]uit")
    at.types("a")
    assert at.leaves() == 1
    assert "\x1b" not in at.screen
    for code in ("\u202e", "\U000e0041", "\u200b", "\xa0", "\x07", "\x9b"):
        assert code not in at.screen


@pytest.mark.parametrize("arguments", [["plugins"], ["provider"]])
def test_U10_names_of_plugins_and_providers_are_harmless(played, arguments):
    core = played(f"""
h = "{HOSTILE}"
RESULTS["plugin.list"] = {{"plugins": [{{"name": "n" + h, "distribution": "d" + h, "version": "1", "status": "failed",
    "provides": ["provider " + h], "reason": "r" + h + "\\nnext line"}}]}}
RESULTS["provider.list"] = {{"providers": [{{"name": "n" + h, "title": "t" + h, "selected": True, "ready": False,
    "distribution": "d" + h, "version": "1", "settings": [], "model": "m" + h, "homepage": "",
    "secrets": [{{"name": "k" + h, "title": "s" + h, "set": False}}]}}]}}
serve_out()
""")
    done = run(core, *arguments)
    assert done.returncode == 0, done.stderr
    assert not [char for char in done.stdout if ord(char) < 32 and char != "\n"]
    assert f"n{DRAWN}" in done.stdout
    assert len(done.stdout.splitlines()) == 3


def test_an_escape_split_over_two_deltas_does_not_slip_through(played, user):
    core = played("""
until("agent.send")
for char in "\\x1b]0;owned\\x07\\x9b2J":
    event("delta", text=char)
end(); serve_out()
""")
    at = user([*core.command, "agent", "--project", "/", "go"])
    assert at.leaves() == 0
    assert r"\u{1B}]0;owned\u{7}\u{9B}2J" in at.screen
    assert "\x1b]" not in at.raw


def test_the_reply_comes_as_it_is_streamed_and_thinking_is_dimmed(played, user, tmp_path):
    core = played("""
until("agent.send")
event("thinking", text="hm ")
event("delta", text="one ")
while not os.path.exists(os.environ["GO"]):
    time.sleep(0.01)
event("delta", text="two")
end("one two"); serve_out()
""")
    at = user([*core.command, "agent", "--project", "/", "go"], {"GO": str(tmp_path / "go")})
    at.sees("one ")  # before the rest is sent
    (tmp_path / "go").touch()
    assert at.leaves() == 0
    assert "\x1b[2mhm \x1b[0m" in at.raw
    assert at.screen == "(thinking) hm \none two\n"


def test_no_color_keeps_the_text_and_the_reverse_video_of_escapes(played, user):
    core = played(
        "until('agent.send'); propose(diff='@@ -1 +1 @@\\n-a\\n+b\\u200b\\n')\n"
        "until('agent.approve'); end(); serve_out()"
    )
    at = user([*core.command, "agent", "--project", "/", "go"], {"NO_COLOR": "1"})
    at.is_asked("[q]uit")
    at.types("a")
    at.leaves()
    assert not re.search(r"\x1b\[[0-9;]*3[0-9]m", at.raw)
    assert "\x1b[7m\\u{200B}" in at.raw


@pytest.mark.parametrize(
    ("detail", "shown"),
    [("", ""), ("The reply was cut off.", "The reply was cut off."), ("It was \\x1b[2J.", r"It was \u{1B}[2J.")],
)
def test_R9_why_a_reply_ended_is_said_where_the_core_says_it(played, detail, shown):
    core = played(f"until('agent.send'); event('delta', text='hi'); end('hi', 'odd', '{detail}'); serve_out()")
    done = run(core, "agent", "--project", "/", "go", stdin=subprocess.DEVNULL)
    assert done.returncode == 0
    assert done.stdout.startswith("hi\n")
    assert (shown in done.stdout) if shown else (done.stdout == "hi\n")


def test_R8_a_text_that_was_never_streamed_is_shown_with_the_end(played):
    core = played("until('agent.send'); end('The provider declined.', 'refusal'); serve_out()")
    done = run(core, "agent", "--project", "/", "go", stdin=subprocess.DEVNULL)
    assert done.stdout.startswith("The provider declined.\n")


def test_events_of_other_turns_and_unknown_ones_are_not_shown(played):
    core = played("""
until("agent.send")
event("delta", text="mine", later=[1])
write({"jsonrpc": "2.0", "method": "agent.delta", "params": {"turn": "other", "text": "not mine"}})
event("telepathy", text="?")
end(); serve_out()
""")
    assert run(core, "agent", "--project", "/", "go", stdin=subprocess.DEVNULL).stdout == "mine\n"


def test_an_error_of_the_agent_is_one_line_with_its_action_on_standard_error(played):
    core = played("""
until("agent.send")
event("error", kind="not_configured", message="claude has no key.", action="Type: rio-core secret set claude api_key")
serve_out()
""")
    done = run(core, "agent", "--project", "/", "go", stdin=subprocess.DEVNULL)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "error: claude has no key.\n  Type: rio-core secret set claude api_key\n"


def test_a_message_is_read_from_standard_input_where_it_is_not_given(played):
    core = played("until('agent.send'); event('delta', text='ok'); end(); serve_out()")
    assert run(core, "agent", "--project", "/", input="line 1\nline 2\n").stdout == "ok\n"
    assert core.requests("agent.send") == [{"text": "line 1\nline 2\n"}]


def test_output_into_a_pipe_that_closes_ends_without_a_traceback(played, tmp_path):
    core = played("""
until("agent.send")
for _ in range(200):
    event("delta", text="x" * 10_000)
propose()
serve_out()
""")
    errors = tmp_path / "errors"
    script = 'err=$1; shift; "$@" 2>"$err" </dev/null | head -c 10'
    done = subprocess.run(
        ["/bin/sh", "-c", script, "sh", str(errors), *core.command, "agent", "--project", "/", "go"],
        capture_output=True, timeout=20,
    )  # fmt: skip
    assert done.stdout == b"x" * 10
    assert "Traceback" not in errors.read_text()
    assert [told["decision"] for told in core.requests("agent.approve")] in ([], ["reject"])
