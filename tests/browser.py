"""A Chromium that is driven through its own debugging protocol over a pipe: no driver, no port, nothing to install but it."""

import json
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PROGRAM = next(filter(None, map(shutil.which, NAMES)), None)
OPTIONS = [
    "--headless",
    "--no-sandbox",  # for those who are root
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--remote-debugging-pipe",
]


class Browser:
    """One page of one browser, which ends with the block.

    ``requests`` has the addresses that the page asked for, ``complaints`` what it wrote to the console and its errors.
    """

    def __enter__(self):
        self._folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)  # its helpers may write to the last
        # Chromium reads commands from 3 and answers on 4; its own output goes nowhere.
        command = ["sh", "-c", 'exec "$@" 3<&0 4>&1 </dev/null >/dev/null 2>&1', "sh", PROGRAM, *OPTIONS]
        command += [f"--user-data-dir={self._folder.name}", "about:blank"]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._rest, self._count, self._session = b"", 0, None
        self.requests, self.complaints = [], []
        pages = [target for target in self.call("Target.getTargets")["targetInfos"] if target["type"] == "page"]
        attached = self.call("Target.attachToTarget", targetId=pages[0]["targetId"], flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Network", "Runtime", "Log"):
            self.call(f"{domain}.enable")
        return self

    def __exit__(self, *_):
        self._process.terminate()
        self._process.communicate(timeout=20)
        self._folder.cleanup()

    def call(self, method, **params):
        """The answer to a command; events that come before it are noted."""
        self._count += 1
        message = {"id": self._count, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        self._process.stdin.write(json.dumps(message).encode() + b"\0")
        self._process.stdin.flush()
        while True:
            told = self._next()
            if told.get("id") == self._count:
                assert "error" not in told, told
                return told["result"]

    def _next(self):
        while b"\0" not in self._rest:
            part = self._process.stdout.read1()
            assert part, "the browser is gone"
            self._rest += part
        line, self._rest = self._rest.split(b"\0", 1)
        told = json.loads(line)
        event, params = told.get("method"), told.get("params", {})
        if event == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])
        elif event in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded"):
            self.complaints.append(params)
        return told

    def open(self, path: Path | str, fragment=""):
        """Load a file, or an address, anew, and wait until it is there."""
        self.call("Page.navigate", url="about:blank")
        self._arrive("location.protocol === 'about:'")
        self.call("Page.navigate", url=(path if isinstance(path, str) else path.as_uri()) + fragment)
        self._arrive("location.protocol !== 'about:'")

    def wait(self, script, seconds=180):
        """The first value of an expression that is not false, and an error if there is none in time."""
        end = time.monotonic() + seconds
        while not (value := self.run(script)):
            assert time.monotonic() < end, f"never came true: {script}"
            time.sleep(0.1)
        return value

    def reload(self):
        self.run("window.before = true")
        self.call("Page.reload")
        self._arrive("!window.before")

    def _arrive(self, there):
        """Wait for a page that is complete; what runs in one that is being left has no answer."""
        told = {}
        while not told.get("result", {}).get("value"):
            told = self.call("Runtime.evaluate", expression=f"{there} && document.readyState === 'complete'")

    def run(self, script):
        """The value of an expression in the page, after what is under way there."""
        script = f"new Promise((done) => setTimeout(() => done({script}), 20))"
        told = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in told, told
        return told["result"].get("value")

    def press(self, *keys):
        """Press keys one after the other, by their names, "Shift+" before some; other texts are typed."""
        codes = {
            "Enter": 13,
            "Tab": 9,
            "Escape": 27,
            "ArrowDown": 40,
            "ArrowUp": 38,
            "ArrowRight": 39,
            "ArrowLeft": 37,
            " ": 32,
        }
        for name in keys:
            key = name.removeprefix("Shift+")
            if key in codes:
                about = {"key": key, "code": "Space" if key == " " else key, "windowsVirtualKeyCode": codes[key]}
                about["modifiers"] = 8 * (key != name)
                text = {"Enter": "\r", " ": " "}.get(key)
                self.call("Input.dispatchKeyEvent", type="keyDown", **about, **({"text": text} if text else {}))
                self.call("Input.dispatchKeyEvent", type="keyUp", **about)
            else:
                for letter in key:
                    self.call("Input.dispatchKeyEvent", type="keyDown", key=letter, text=letter)
                    self.call("Input.dispatchKeyEvent", type="keyUp", key=letter)

    def resize(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=True)
