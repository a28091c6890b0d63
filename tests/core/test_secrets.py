import base64
import json
import os
import re
import stat
import threading
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rio_core._engine.bus import Bus
from rio_core._engine.secrets import Secrets
from rio_core.api import SecretSpec
from rio_core.protocol.errors import RioError
from rio_core.protocol.events import SettingsChanged
from support.profiles import examples

KEY = "sk-canary-0123456789+/=&é"


@pytest.fixture
def secrets(tmp_path: Path) -> Secrets:
    return declared(tmp_path / "config")


def declared(folder: Path) -> Secrets:
    secrets = Secrets(folder, Bus())
    secrets.declare("p", (SecretSpec("key", "Key", environment="P_KEY"), SecretSpec("other", "Other")))
    secrets.declare("q", (SecretSpec("key", "Key"),))
    return secrets


def file_of(secrets: Secrets, provider: str = "p") -> Path:
    return secrets._folder / f"{provider}.json"


def test_what_is_set_is_there_after_a_restart_and_can_be_cleared(secrets: Secrets, tmp_path: Path):
    assert secrets.status("p", "key") == "not set"
    secrets.set("p", "key", KEY)
    secrets.set("p", "other", "second")
    again = declared(tmp_path / "config")
    assert again.status("p", "key") == "set"
    assert again.reader("p")("key") == KEY
    again.clear("p", "key")
    assert again.status("p", "key") == "not set"
    assert again.reader("p")("key") is None
    assert again.reader("p")("other") == "second"


def test_a_provider_reads_its_own_secrets_only(secrets: Secrets):
    secrets.set("q", "key", "of q, not of p")
    reader = secrets.reader("p")
    assert reader("key") is None
    for name in ("nothing", "../q", "q/key"):
        with pytest.raises(LookupError, match="not among the secrets"):
            reader(name)


@pytest.mark.parametrize(("provider", "name"), [("nobody", "key"), ("p", "nothing"), ("../p", "key"), ("p", "")])
def test_what_no_provider_declares_is_not_stored(secrets: Secrets, provider: str, name: str):
    for use in (
        lambda: secrets.set(provider, name, "v"),
        lambda: secrets.clear(provider, name),
        lambda: secrets.status(provider, name),
    ):
        with pytest.raises(RioError) as caught:
            use()
        assert caught.value.kind == "not_found"


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o777])
def test_S01_the_file_is_private_whatever_the_umask(secrets: Secrets, umask: int):
    old = os.umask(umask)
    try:
        secrets.set("p", "key", KEY)
    finally:
        os.umask(old)
    assert stat.S_IMODE(file_of(secrets).stat().st_mode) == 0o600
    assert stat.S_IMODE(secrets._folder.stat().st_mode) == 0o700


def test_S01_no_instant_with_the_secret_in_an_open_file(secrets: Secrets):
    """Another thread looks all the time while the umask would let everybody read."""
    secrets._folder.mkdir(parents=True)
    seen: set[int] = set()
    stop = threading.Event()

    def look() -> None:
        while not stop.is_set():
            for entry in os.scandir(secrets._folder):
                try:
                    seen.add(stat.S_IMODE(entry.stat(follow_symlinks=False).st_mode))
                except OSError:
                    continue

    thread = threading.Thread(target=look)
    old = os.umask(0)
    thread.start()
    try:
        for number in range(60):
            secrets.set("p", "key", f"{KEY}{number}")
    finally:
        os.umask(old)
        stop.set()
        thread.join()
    assert seen == {0o600}


def test_S01_an_older_file_that_others_could_read_is_closed(secrets: Secrets):
    secrets._folder.mkdir(parents=True, mode=0o755)
    secrets._folder.chmod(0o755)
    file = file_of(secrets)
    file.write_text(json.dumps({"key": "old-secret"}))
    file.chmod(0o644)
    assert secrets.reader("p")("key") == "old-secret"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    file.chmod(0o644)
    secrets.set("p", "key", KEY)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(secrets._folder.stat().st_mode) == 0o700


def test_S01_a_link_in_its_place_is_replaced_and_not_followed(secrets: Secrets, tmp_path: Path):
    secrets._folder.mkdir(parents=True)
    target = tmp_path / "world-readable.json"
    target.write_text("{}")
    file_of(secrets).symlink_to(target)
    secrets.set("p", "key", KEY)
    assert target.read_text() == "{}"
    assert not file_of(secrets).is_symlink()
    assert secrets.reader("p")("key") == KEY


@pytest.mark.parametrize("ends", ["\r\n", "\n", "  ", "\t\n"])
def test_N4_white_space_around_a_secret_is_dropped(secrets: Secrets, ends: str):
    secrets.set("p", "key", f"{ends}{KEY}{ends}")
    assert secrets.reader("p")("key") == KEY
    file_of(secrets).write_text(json.dumps({"key": KEY + ends}))
    assert secrets.reader("p")("key") == KEY


@pytest.mark.parametrize(
    "char", ["\n", "\r", "\0", "\t", "\x7f", "\x85", "\xa0", "\xad", "ā", "🎉", "\u200b", "\u202e", "\udcff"]
)
def test_N4_what_no_header_carries_is_refused_by_its_place(secrets: Secrets, char: str):
    with pytest.raises(RioError) as caught:
        secrets.set("p", "key", f"canary{char}secret")
    error = caught.value
    assert "Character 7 of the 13 " in error.message
    for text in (error.message, error.action, str(error), repr(error), repr(error.args)):
        assert "canary" not in text
        assert char not in text
    assert secrets.status("p", "key") == "not set"


@pytest.mark.parametrize("value", ["", "  \r\n", "x" * (16 * 1024 + 1)])
def test_an_empty_or_endless_secret_is_refused(secrets: Secrets, value: str):
    with pytest.raises(RioError, match=r"empty|longer"):
        secrets.set("p", "key", value)


def test_the_environment_counts_where_nothing_is_stored(secrets: Secrets, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("P_KEY", "  from-environment\n")
    assert secrets.status("p", "key") == "from the environment"
    assert secrets.reader("p")("key") == "from-environment"
    assert secrets.mask("x from-environment y") == "x [secret p/key] y"
    secrets.set("p", "key", KEY)
    assert secrets.status("p", "key") == "set"
    assert secrets.reader("p")("key") == KEY
    secrets.clear("p", "key")
    monkeypatch.setenv("P_KEY", " \n")
    assert secrets.status("p", "key") == "not set"
    assert secrets.reader("p")("key") is None


@pytest.mark.parametrize("damage", [b"", b"{", b"[1]", b'{"key": 7}', b"\xff\xfe", b'"sk-canary"', b"[" * 100_000])
def test_S04_a_damaged_file_is_named_and_never_quoted(secrets: Secrets, damage: bytes, expect_log: Any, caplog: Any):
    secrets._folder.mkdir(parents=True)
    file_of(secrets).write_bytes(damage)
    expect_log(r".*secrets: .*p\.json does not hold secrets")
    assert secrets.status("p", "key") == "not set"
    assert "canary" not in caplog.text
    assert "Traceback" not in caplog.text
    secrets.set("p", "key", KEY)
    assert secrets.reader("p")("key") == KEY


def test_a_pipe_in_the_place_of_a_file_hangs_nobody(secrets: Secrets, expect_log: Any):
    secrets._folder.mkdir(parents=True)
    os.mkfifo(file_of(secrets))
    expect_log(r".*secrets: .*is no regular file")
    assert secrets.status("p", "key") == "not set"


def test_S04_S12_no_text_of_it_holds_a_value(secrets: Secrets, caplog: Any):
    events: list[Any] = []
    secrets._bus.listen(events.append)
    secrets.set("p", "key", KEY)
    secrets.mask("make it known")
    assert events == [SettingsChanged(key="secret.p.key")]
    for thing in (secrets, secrets.reader("p"), events, secrets.status("p", "key")):
        assert KEY not in repr(thing)
    assert KEY not in caplog.text


# -- S06: masking ------------------------------------------------------------------------------------------------------


def test_S06_every_form_of_a_secret_is_masked(secrets: Secrets):
    secrets.set("p", "key", KEY)
    data = KEY.encode()
    for form in (
        KEY,
        quote(KEY, safe=""),
        re.sub("%..", lambda match: match[0].lower(), quote(KEY, safe="")),
        json.dumps(KEY)[1:-1],
        base64.b64encode(data).decode(),
        base64.urlsafe_b64encode(data).decode(),
    ):
        masked = secrets.mask(f"before {form} after {form}")
        assert "[secret p/key]" in masked
        assert form not in masked
        assert "canary" not in masked
        assert masked.startswith("before ")


@given(before=st.binary(max_size=5), after=st.binary(max_size=5))
@examples(ci=100, deep=1000)
def test_S06_a_secret_in_the_middle_of_base64_is_masked(
    tmp_path_factory: pytest.TempPathFactory, before: bytes, after: bytes
):
    secrets = declared(tmp_path_factory.mktemp("config"))
    secrets.set("p", "key", "user-canary-0123456789")
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        whole = encode(before + b"user-canary-0123456789" + after).decode()
        masked = secrets.mask(whole)
        assert "[secret p/key]" in masked
        # What is left on both sides tells at most the neighbours and a character or two of each end.
        left = masked.replace("[secret p/key]", "")
        assert len(left) <= 4 * ((len(before) + len(after)) // 3 + 3)


def test_S06_the_longer_of_two_secrets_is_masked_whole(secrets: Secrets):
    secrets.set("p", "key", "abcdefgh")
    secrets.set("p", "other", "abcdefgh-and-more")
    assert secrets.mask("abcdefgh-and-more abcdefgh") == "[secret p/other] [secret p/key]"


def test_S06_short_values_and_other_texts_are_left_alone(secrets: Secrets):
    assert secrets.mask("nothing is stored") == "nothing is stored"
    secrets.set("p", "key", "abcdefg")
    assert secrets.mask("abcdefg") == "abcdefg"


def test_S06_a_changed_or_cleared_secret_is_masked_as_it_is_now(secrets: Secrets):
    secrets.set("p", "key", "first-secret-value")
    assert "first" not in secrets.mask("first-secret-value")
    secrets.set("p", "key", "second-secret-value")
    assert "second" not in secrets.mask("second-secret-value")
    assert secrets.mask("first-secret-value") == "first-secret-value"
    secrets.clear("p", "key")
    assert secrets.mask("second-secret-value") == "second-secret-value"


def test_S06_secrets_of_a_provider_that_is_not_loaded_are_masked_too(secrets: Secrets):
    secrets.set("q", "key", "secret-of-q-here")
    secrets.withdraw("q")
    assert secrets.mask("secret-of-q-here") == "[secret q/key]"


def test_S06_another_core_that_stores_a_secret_is_noticed(secrets: Secrets, tmp_path: Path):
    secrets.mask("x")
    declared(tmp_path / "config").set("p", "key", "stored-by-another")
    assert secrets.mask("stored-by-another") == "[secret p/key]"
