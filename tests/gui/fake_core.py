"""A process that speaks the protocol for one buffer, around the plain model. Test ops play other origins and faults.

test.change {edits: [[start, end, text], ...]}   a change by another origin, in offsets
test.hang {seconds}                              answers nothing for a while
test.die {complaint}                             ends at once
"""

import json
import os
import sys
import time
from pathlib import Path

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from gui.plain_core import PlainCore


def main():
    path = sys.argv[1] if len(sys.argv) > 1 else None
    text = Path(path).read_bytes().decode() if path else ""
    core = PlainCore(text)
    for line in sys.stdin.buffer:
        request = json.loads(line)
        params = request.get("params", {})
        match request["method"]:
            case "test.change":
                messages = [core.foreign([tuple(edit) for edit in params["edits"]])]
            case "test.hang":
                time.sleep(params["seconds"])
                messages = []
            case "test.die":
                sys.stderr.write(params["complaint"])
                sys.stderr.flush()
                os._exit(3)
            case _:
                messages = core.answer(request)
        for message in messages:
            sys.stdout.write(json.dumps(message) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
