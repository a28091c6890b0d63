"""The window from outside, under Xvfb, beside other editors in the same run. Prints a table; see README.md.

The measuring is done by a program whose path is given. It takes `--peers FILE --file FILE... --runs N --baseline NAME
--measure LIST --timeout SECONDS` and prints JSON: for each file and peer the medians `painted` and `ready` (ms), `pss`
(MB of all its processes, so the window and its core together) and `key` (ms from a key to changed pixels).
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

LINE = b"    value = compute(first, second)  # a line of code\n"
PEERS = {
    "geany": {"cmd": "geany -i {file}"},
    "kate": {"cmd": "kate -n -b {file}"},
    "gvim": {"cmd": "gvim -f {file}", "pre_keys": "i"},
    "mousepad": {"cmd": "mousepad --disable-server {file}"},
    "scite": {"cmd": "scite {file}"},
}


def files(folder: Path, sizes: list[int]) -> list[Path]:
    """A small file, one of each size in MB, and one of 10 MB in a single line."""
    made = [folder / "small.py"]
    made[0].write_bytes(LINE * 100)
    for size in sizes:
        made.append(folder / f"{size}MB.txt")
        made[-1].write_bytes(LINE * (size * 1_000_000 // len(LINE)))
    made.append(folder / "one_line.txt")
    made[-1].write_bytes(b"word " * 2_000_000)
    return made


def measure(tool: list[str], folder: Path, sizes: list[int], runs: int, baseline: str) -> dict[str, Any]:
    rio = f"{sys.executable} -P -m rio_gui {{file}}"
    here = {name: peer for name, peer in PEERS.items() if shutil.which(name)}
    peers = folder / "peers.json"
    peers.write_text(
        json.dumps([{"name": "rio", "cmd": rio}, *({"name": name, **peer} for name, peer in here.items())])
    )
    command = [*tool, "--peers", str(peers), "--runs", str(runs), "--measure", "start,rss,keys", "--timeout", "40"]
    if baseline in here:
        command += ["--baseline", baseline]
    for path in files(folder, sizes):
        command += ["--file", str(path)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def table(found: dict[str, Any], baseline: str) -> None:
    def middle(row: dict[str, Any], name: str) -> str:
        return f"{row[name]['med']:,}" if name in row else "-"

    for file, rows in found.items():
        print(f"\n{file}")
        print(
            f"  {'':10}{'painted ms':>12}{'ready ms':>12}{'PSS MB':>9}{'key p50':>9}{'p95 ms':>8}  ratio to {baseline}"
        )
        for name, row in rows.items():
            key = row.get("key", {})
            times = f"{key.get('p50', '-'):>9}{key.get('p95', '-'):>8}"
            ratios = "  ".join(f"{what} {ratio}" for what, ratio in row.get("ratio", {}).items())
            faults = f"  {row['errors']}" if row.get("errors") else ""
            start = f"{middle(row, 'painted'):>12}{middle(row, 'ready'):>12}{middle(row, 'pss'):>9}"
            print(f"  {name:10}{start}{times}  {ratios}{faults}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tool", nargs="+", help="the measuring program, and the interpreter before it if it needs one")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--sizes", type=int, nargs="*", default=[10, 100], help="in MB")
    parser.add_argument("--baseline", default="geany")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        table(measure(options.tool, Path(folder), options.sizes, options.runs, options.baseline), options.baseline)


if __name__ == "__main__":
    main()
