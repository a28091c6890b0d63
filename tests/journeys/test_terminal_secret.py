"""A secret typed or piped into `rio-core secret` is in its file and nowhere else."""

import os
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from support.at_terminal import User, users

CANARY = "canary-7f3a-do-not-tell"
PROVIDER = """
from rio_core.api import Done, Delta, ProviderInfo, SecretSpec, hookimpl

class Keyed:
    info = ProviderInfo(name="keyed", title="Keyed", secrets=(SecretSpec("api_key", "API key"),))
    async def respond(self, request, post):
        await post(Done("end_turn"))
    async def models(self, setup):
        return []

@hookimpl
def rio_providers():
    return [Keyed()]
"""


@pytest.fixture
def user() -> Iterator[Callable[..., User]]:
    with users() as begin:
        yield begin


@pytest.fixture(scope="module")
def rio(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The command, for a Python in which a provider with a secret is installed."""
    base = tmp_path_factory.mktemp("keyed")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", "--symlinks", str(base / "venv")], check=True)
    site = next((base / "venv/lib").iterdir()) / "site-packages"
    here = [path for path in sys.path if path.endswith("site-packages")]
    sources = Path(__file__).parents[2]
    (site / "here.pth").write_text("\n".join([*here, str(sources / "rio-core/src")]))
    (site / "keyed.py").write_text(PROVIDER)
    info = site / "keyed-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: keyed\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[rio.core]\nkeyed = keyed\n")
    return [str(base / "venv/bin/python"), "-P", "-m", "rio_core"]


def stored() -> dict[str, bool]:
    """Each file that rio keeps, and whether the secret is in it."""
    home = Path(os.environ["RIO_HOME"])
    return {str(path.relative_to(home)): CANARY in path.read_text() for path in home.rglob("*") if path.is_file()}


@pytest.mark.parametrize("end", ["", "\n", "\r\n"])
def test_N4_C19_a_piped_secret_is_stored_without_its_line_end_and_never_shown(rio, end):
    process = subprocess.Popen(
        [*rio, "secret", "set", "keyed", "api_key"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    process.stdin.write((CANARY + end).encode())
    process.stdin.close()
    seen = set()
    while process.poll() is None:
        for entry in Path("/proc").iterdir():
            if entry.name.isdecimal():
                try:
                    seen.add((entry / "cmdline").read_bytes())
                    seen.add((entry / "environ").read_bytes())
                except OSError:
                    continue
        time.sleep(0.005)
    output = process.stdout.read() + process.stderr.read()
    process.stdout.close()
    process.stderr.close()
    assert process.returncode == 0, output
    assert b"set" in output
    assert CANARY.encode() not in output
    assert len(seen) > 10
    assert not [data for data in seen if CANARY.encode() in data]
    holding = [name for name, holds in stored().items() if holds]
    assert len(holding) == 1
    file = Path(os.environ["RIO_HOME"], holding[0])
    assert file.stat().st_mode & 0o777 == 0o600
    assert f'"{CANARY}"' in file.read_text()
    for action, status in (("status", "set"), ("clear", "not set"), ("status", "not set")):
        done = subprocess.run([*rio, "secret", action, "keyed", "api_key"], capture_output=True, text=True, timeout=30)
        assert done.stdout == f"keyed api_key: {status}\n", done.stderr
    assert not any(stored().values())


def test_a_typed_secret_is_not_echoed(rio, user):
    at = user([*rio, "secret", "set", "keyed", "api_key"])
    at.sees("keyed api_key: ")
    at.settle(0.2)
    at.types(CANARY)
    assert at.leaves() == 0
    assert CANARY not in at.raw
    assert "keyed api_key: set" in at.screen
    assert sum(stored().values()) == 1


@pytest.mark.parametrize("value", [b"", b"\n", b"  \n", b"two\nlines\n", b"\xff\xfe", b"x" * 70_000])
def test_what_is_no_secret_is_refused_without_showing_it(rio, value):
    done = subprocess.run(
        [*rio, "secret", "set", "keyed", "api_key"], input=value, capture_output=True, timeout=30
    )  # fmt: skip
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 2
    assert b"Traceback" not in done.stderr
    assert value.strip() == b"" or value.strip()[:6] not in done.stderr


@pytest.mark.parametrize("names", [("nobody", "api_key"), ("keyed", "nothing")])
def test_a_secret_that_no_provider_declares_is_refused_and_not_kept(rio, names):
    done = subprocess.run(
        [*rio, "secret", "set", *names], input=CANARY, capture_output=True, text=True, timeout=30
    )  # fmt: skip
    assert done.returncode == 1
    assert CANARY not in done.stdout + done.stderr
    assert not any(stored().values())


def test_a_provider_that_lacks_its_secret_says_how_to_give_it(rio):
    done = subprocess.run([*rio, "provider"], capture_output=True, text=True, timeout=30)
    assert (
        textwrap.dedent("""\
          ! needs API key: rio-core secret set keyed api_key
    """).strip()
        in done.stdout
    )
