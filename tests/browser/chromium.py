"""A small client of Chromium: its DevTools protocol over two pipes, nothing to install.

The protocol: https://chromedevtools.github.io/devtools-protocol/; with
--remote-debugging-pipe it reads messages from descriptor 3 and writes to 4, each ended
by a zero byte.
"""

from __future__ import annotations

import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
ARGUMENTS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
    "--no-first-run", "--remote-debugging-pipe", "--disable-dev-shm-usage",
    "--force-device-scale-factor=1", "--disable-background-networking",
    "--font-render-hinting=none",
]  # fmt: skip
PATIENCE = 60.0
FRAME = "new Promise(done => requestAnimationFrame(done))"


def program() -> str | None:
    """Where Chromium is, or None."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Chromium:
    """One browser with one page."""

    def __init__(self, folder: Path, width: int = 1280, height: int = 860) -> None:
        found = program()
        assert found is not None
        read, self.to = os.pipe()
        self.back, write = os.pipe()

        def pass_on() -> None:  # in the child: the pipes become 3 and 4
            above = [fcntl.fcntl(each, fcntl.F_DUPFD, 10) for each in (read, write)]
            for each, number in zip(above, (3, 4)):
                os.dup2(each, number)

        self.process = subprocess.Popen(
            [found, *ARGUMENTS, f"--user-data-dir={folder}", "about:blank"],
            preexec_fn=pass_on,
            close_fds=False,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(read)
        os.close(write)
        self.rest, self.number, self.session = b"", 0, None
        self.events: list[dict[str, Any]] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self.session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )

    def message(self) -> dict[str, Any]:
        """The next message from the browser."""
        end = time.monotonic() + PATIENCE
        while b"\0" not in self.rest:
            ready, _, _ = select.select([self.back], [], [], end - time.monotonic())
            read = os.read(self.back, 1 << 20) if ready else b""
            if not read:
                raise RuntimeError("Chromium says nothing any more")
            self.rest += read
        one, _, self.rest = self.rest.partition(b"\0")
        return dict(json.loads(one))

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        self.number += 1
        said = {"id": self.number, "method": method, "params": parameters}
        if self.session is not None:
            said["sessionId"] = self.session
        os.write(self.to, json.dumps(said).encode() + b"\0")
        while True:
            answer = self.message()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return dict(answer["result"])
            if "method" in answer:
                self.events.append(answer)

    def open(self, path: Path) -> None:
        """Loads a file; returns when the page has been drawn once."""
        self.events.clear()
        self.call("Page.navigate", url=path.as_uri())
        while not any(e["method"] == "Page.loadEventFired" for e in self.events):
            self.events.append(self.message())
        self.evaluate(FRAME)
        self.evaluate(FRAME)

    def evaluate(self, expression: str) -> Any:
        """The value of an expression in the page; a promise is awaited."""
        answer = self.call(
            "Runtime.evaluate",
            expression=expression,
            awaitPromise=True,
            returnByValue=True,
        )
        if "exceptionDetails" in answer:
            raise RuntimeError(json.dumps(answer["exceptionDetails"])[:2000])
        return answer["result"].get("value")

    def click(self, selector: str) -> None:
        """Presses the mouse in the middle of the first element that matches."""
        x, y = self.evaluate(
            f"(() => {{ const box = document.querySelector({json.dumps(selector)})"
            ".getBoundingClientRect();"
            "return [box.x + box.width / 2, box.y + box.height / 2]; })()"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.call(
                "Input.dispatchMouseEvent",
                type=kind,
                x=x,
                y=y,
                button="left",
                clickCount=1,
            )
        self.evaluate(FRAME)

    def press(self, *keys: str) -> None:
        """Presses keys, one after the other: "ArrowDown", "/", "x"."""
        for key in keys:
            text = {"text": key} if len(key) == 1 else {}
            self.call("Input.dispatchKeyEvent", type="keyDown", key=key, **text)
            self.call("Input.dispatchKeyEvent", type="keyUp", key=key)
        self.evaluate(FRAME)

    def screenshot(self) -> bytes:
        """The page as a PNG."""
        return base64.b64decode(self.call("Page.captureScreenshot")["data"])

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self.to)
        os.close(self.back)
