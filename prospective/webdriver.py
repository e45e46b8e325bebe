"""A small WebDriver client: drives a headless Chromium through chromedriver, for tests of pages.

    >>> with Browser() as browser:
    ...     browser.open("file:///tmp/page.html")
    ...     browser.click("#begin")
    ...     browser.wait("return document.title === 'Begun'")

Standard library only, and no import from this folder, so that tests of any folder can use it.
why_no_browser() says why there is none to use: the reason to skip a test. Nothing is left behind:
close() ends the processes that were started here and removes their folder.
"""

import base64
import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"     # the key that the WebDriver standard gives it
DRIVERS = ("chromedriver", "chromium.chromedriver")
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
ARGUMENTS = """--headless --no-sandbox --disable-gpu --disable-quic --no-first-run
    --disable-background-networking --disable-component-update --disable-sync
    --disable-default-apps --disable-extensions --disable-dev-shm-usage
    --hide-scrollbars --force-device-scale-factor=1 --lang=en""".split()
# Keys of the WebDriver standard that tests need.
KEYS = {"Backspace": "\ue003", "Tab": "\ue004", "Enter": "\ue007", "Shift": "\ue008",
        "Control": "\ue009", "Alt": "\ue00a", "Escape": "\ue00c", "Space": "\ue00d",
        "Down": "\ue015", "Meta": "\ue03d"}


class BrowserError(Exception):
    """What the driver answers in place of a value."""


def found(names):
    """Return the path of the first program that is there, or None."""
    return next(filter(None, map(shutil.which, names)), None)


def why_no_browser():
    """Return why no browser can be used, or "" if one can."""
    if os.environ.get("NO_BROWSER_TESTS"):
        return "NO_BROWSER_TESTS is set"
    if not found(DRIVERS):
        return f"no driver found: none of {', '.join(DRIVERS)} is on the path"
    if not found(BROWSERS):
        return f"no browser found: none of {', '.join(BROWSERS)} is on the path"
    return ""


def free_port():
    """Return a port on which nothing listens now."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Browser:
    """One headless browser with an empty profile. `downloads` is the folder of its downloads."""

    def __init__(self, *, width=1280, height=800, timeout=10):
        self.timeout = timeout
        self.process = self.session = None
        self.folder = tempfile.mkdtemp(prefix="browser-")
        self.downloads = os.path.join(self.folder, "downloads")
        os.mkdir(self.downloads)
        try:
            self.start(width, height)
        except BaseException:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    ################ The driver

    def start(self, width, height):
        """Start the driver, and through it the browser."""
        self.port = free_port()
        self.process = subprocess.Popen(
            [found(DRIVERS), f"--port={self.port}"], stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
            env={**os.environ, "TMPDIR": self.folder, "HOME": self.folder})
        self.wait_for(self.is_ready, "the driver did not start", 30)
        options = {
            "binary": found(BROWSERS),
            "args": [*ARGUMENTS, f"--window-size={width},{height}",
                     f"--user-data-dir={os.path.join(self.folder, 'profile')}"],
            "prefs": {"download.default_directory": self.downloads,
                      "download.prompt_for_download": False},
            "perfLoggingPrefs": {"enableNetwork": True, "enablePage": False}}
        answer = self.request("POST", "/session", {"capabilities": {"alwaysMatch": {
            "browserName": "chrome", "goog:chromeOptions": options,
            "unhandledPromptBehavior": "ignore",
            "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"}}}}, 60)
        self.session = f"/session/{answer['sessionId']}"

    def is_ready(self):
        """Return whether the driver answers; raise BrowserError if it has ended."""
        if self.process.poll() is not None:
            raise BrowserError(f"the driver ended with status {self.process.returncode}")
        try:
            return self.request("GET", "/status")["ready"]
        except OSError:
            return False

    def request(self, method, path, body=None, timeout=30):
        """Return the value of the driver's answer; raise BrowserError for an error."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            connection.request(method, path, json.dumps(body) if body is not None else None,
                               {"Content-Type": "application/json"})
            value = json.loads(connection.getresponse().read())["value"]
        finally:
            connection.close()
        if isinstance(value, dict) and value.get("error"):
            raise BrowserError(f"{value['error']}: {value['message'].splitlines()[0]}")
        return value

    def post(self, path, **body):
        """Return the answer to a command of the session."""
        return self.request("POST", self.session + path, body)

    def get(self, path):
        """Return the answer to a question to the session, such as whether a dialog is open."""
        return self.request("GET", self.session + path)

    def close(self):
        """End the browser and its driver and remove their folder; twice is no error."""
        if self.session:
            try:
                self.request("DELETE", self.session, timeout=10)
            except (BrowserError, OSError, ValueError, http.client.HTTPException):
                pass
            self.session = None
        if self.process:
            # The driver leads a group of its own, in which the browser is too.
            try:
                os.killpg(self.process.pid, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                pass
            self.process.wait()
            self.process = None
        for attempt in range(50):       # a browser that ends may still write for a moment
            shutil.rmtree(self.folder, ignore_errors=True)
            if not os.path.exists(self.folder):
                break
            time.sleep(0.1)

    ################ Waiting

    def wait_for(self, condition, what="a condition", timeout=None):
        """Return what a function returns once that is true; raise BrowserError after a time."""
        end = time.monotonic() + (timeout or self.timeout)
        while True:
            value = condition()
            if value:
                return value
            if time.monotonic() > end:
                raise BrowserError(f"waited in vain: {what() if callable(what) else what}")
            time.sleep(0.02)

    def wait(self, script, *arguments):
        """Return the value of a script once that is true."""
        return self.wait_for(lambda: self.run(script, *arguments), script)

    ################ Pages, tabs and elements

    def open(self, address):
        """Load a page and wait for it."""
        self.post("/url", url=address)

    def reload(self):
        """Load the page again."""
        self.post("/refresh")

    def run(self, script, *arguments):
        """Return the value of a script, a function's body, in the page."""
        return self.post("/execute/sync", script=script, args=list(arguments))

    def find(self, selector):
        """Return the first element that a CSS selector finds."""
        return self.post("/element", using="css selector", value=selector)[ELEMENT]

    def click(self, selector):
        """Click an element."""
        self.post(f"/element/{self.find(selector)}/click")

    def text(self, selector):
        """Return the text of an element as it is shown."""
        return self.get(f"/element/{self.find(selector)}/text")

    def type(self, selector, text):
        """Send keys to an element; the path of a file to a file input."""
        self.post(f"/element/{self.find(selector)}/value", text=text)

    def press(self, *keys, held=()):
        """Press keys, of KEYS or characters, where the focus is; held: keys held meanwhile."""
        keys, held = ([KEYS.get(key, key) for key in some] for some in (keys, held))
        actions = [{"type": "keyDown", "value": key} for key in held]
        for key in keys:
            actions += [{"type": kind, "value": key} for kind in ("keyDown", "keyUp")]
        actions += [{"type": "keyUp", "value": key} for key in held]
        self.post("/actions", actions=[{"type": "key", "id": "keys", "actions": actions}])

    def new_tab(self):
        """Open a tab and drive it; return the handles of the tab before it and of it."""
        before, handle = self.get("/window"), self.post("/window/new", type="tab")["handle"]
        self.switch(handle)
        return before, handle

    def switch(self, handle):
        """Drive another tab."""
        self.post("/window", handle=handle)

    def close_tab(self):
        """Close the tab that is driven."""
        self.request("DELETE", self.session + "/window")

    ################ What a browser shows and logs

    def screenshot(self, path):
        """Write a PNG of the window."""
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.get("/screenshot")))

    def log(self, kind):
        """Return the new entries of a log: browser (the console) or performance."""
        return self.post("/se/log", type=kind)

    def requests(self):
        """Return the addresses of all requests of pages since this was last asked.

        Those of the browser's own pages, such as the first new tab, are left out.
        """
        messages = [json.loads(entry["message"])["message"] for entry in self.log("performance")]
        return [message["params"]["request"]["url"] for message in messages
                if message["method"] == "Network.requestWillBeSent"
                and not message["params"]["documentURL"].startswith("chrome")]

    def cdp(self, command, **parameters):
        """Return the answer to a command of the DevTools protocol."""
        return self.post("/goog/cdp/execute", cmd=command, params=parameters)

    def media(self, kind="", **features):
        """Emulate a medium ("print") and features, such as prefers_color_scheme="dark"."""
        self.cdp("Emulation.setEmulatedMedia", media=kind, features=[
            {"name": name.replace("_", "-"), "value": value} for name, value in features.items()])

    def size(self, width, height):
        """Give the page a size in CSS pixels."""
        self.cdp("Emulation.setDeviceMetricsOverride", width=width, height=height,
                 deviceScaleFactor=1, mobile=False)

    def accessible(self):
        """Return the nodes of the accessibility tree as (role, name), without ignored ones."""
        nodes = self.cdp("Accessibility.getFullAXTree")["nodes"]
        return [(node["role"]["value"], node.get("name", {}).get("value", ""))
                for node in nodes if not node["ignored"]]
