import os
import sys
import threading
from pathlib import Path

import pytest

from rio_core._engine.workspace.confine import Root
from rio_core._engine.workspace.reading import is_binary, read_capped
from rio_core.protocol.errors import RioError


def refusal(root: Root, path: str) -> RioError:
    with pytest.raises(RioError) as caught:
        read_capped(root, path, 1000)
    return caught.value


@pytest.mark.parametrize(("cap", "data", "cut"), [(5, b"insid", True), (6, b"inside", False), (7, b"inside", False)])
def test_the_cap(root: Root, cap: int, data: bytes, cut: bool) -> None:
    content = read_capped(root, "a.txt", cap)
    assert (content.names, content.data, content.cut) == (("a.txt",), data, cut)


def test_P09_a_file_of_no_size_is_read_to_the_cap() -> None:
    with Root.open("/proc/self") as root:
        assert root.stat("status").st_size == 0
        assert read_capped(root, "status", 20).cut
        assert read_capped(root, "status", 10**6).data.startswith(b"Name:")


def test_P09_a_growing_file_gives_no_more_than_the_cap(project: Path, root: Root) -> None:
    done = threading.Event()

    def grow() -> None:
        with (project / "log").open("ab", buffering=0) as file:
            while not done.is_set():
                file.write(b"line\n" * 10_000)

    (project / "log").write_text("line\n")
    thread = threading.Thread(target=grow)
    thread.start()
    try:
        for _ in range(20):
            assert len(read_capped(root, "log", 100_000).data) <= 100_000
    finally:
        done.set()
        thread.join()


def test_F4_an_executable_is_refused_as_binary(project: Path, root: Root) -> None:
    (project / "program").write_bytes(Path(sys.executable).read_bytes()[: 64 * 1024])
    error = refusal(root, "program")
    assert error.kind == "unsupported"
    assert "binary" in error.message


@pytest.mark.parametrize(
    ("data", "binary"),
    [
        (b"", False),
        (b"text\n", False),
        (b"text\0", True),
        (b"x" * 8191 + b"\0", True),
        (b"x" * 8192 + b"\0", False),
        ("wide".encode("utf-16"), False),
        ("wide".encode("utf-32"), False),
        (b"\0\0\xfe\xff\0\0\0w", False),
        ("漢字".encode() * 100, False),
        (b"caf\xe9\n" * 100, False),
        (b"1\n2\n\f\n4\n\x0b\x1c\x85", False),
        (b"\x1b[31mred\x1b[0m\n" * 100, False),
        (bytes(number * number % 255 + 1 for number in range(4000)) + bytes(range(1, 9)) * 40, True),
    ],
)
def test_F4_what_is_binary(data: bytes, binary: bool) -> None:
    assert is_binary(data) is binary


def test_F6_secrets_are_refused_by_the_real_name(project: Path, root: Root) -> None:
    (project / ".env").write_text("TOKEN=canary")
    (project / "innocent").symlink_to(".env")
    for path in (".env", "innocent", "sub/../.env", str(project / "innocent")):
        error = refusal(root, path)
        assert error.kind == "protected"
        assert "canary" not in f"{error.message}{error.action}"
    assert read_capped(root, "innocent", 100, secrets=True).data == b"TOKEN=canary"


@pytest.mark.timeout(20)
def test_F2_special_files_are_refused(project: Path, root: Root) -> None:
    os.mkfifo(project / "pipe")
    assert refusal(root, "pipe").kind == "unsupported"
    assert refusal(root, "sub").kind == "unsupported"
