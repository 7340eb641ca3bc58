"""A real Chromium without a head: it opens a report, and returns the errors in it."""

from __future__ import annotations

import json
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
)
CHROMIUM = ("chromium", "chromium-browser", "google-chrome")
OWN = ("file:", "data:", "about:", "chrome:")
"""Addresses on this machine; the last are the browser's own pages."""

SEEN = """[...document.querySelectorAll(arguments[0])].filter(one => one.getClientRects().length
&& one.checkVisibility({checkOpacity: true, checkVisibilityCSS: true}))"""
"""In JavaScript: the elements that fit a selector and can be seen."""

PATIENCE = 20.0
"""Seconds until something that is waited for must be there."""


def missing() -> str:
    """Return what a browser lacks here; empty where one can be started."""
    try:
        import selenium  # noqa: F401
    except ImportError:
        return "needs selenium"
    if not any(map(shutil.which, CHROMIUM)):
        return "needs chromium"
    return "" if shutil.which("chromedriver") else "needs chromedriver (chromium-driver)"


@dataclass
class Browser:
    """A browser at work. `driver` is selenium's, for whatever is not here."""

    driver: Any

    def open(self, page: Path, address: str = "") -> None:
        """Open a page at an address inside it and wait until it is ready."""
        place = page.resolve().as_uri()
        if self.driver.current_url.partition("#")[0] == place:
            self.driver.get("about:blank")  # another address of a page does not load it anew
        self.driver.get(f"{place}{address}")
        self.wait("document.documentElement.dataset.ready === 'yes'")

    def go(self, address: str) -> None:
        """Go on to another address inside the page and wait until it is shown."""
        script = "window.drawn = document.title; location.hash = arguments[0]"
        self.driver.execute_script(script, address)
        self.wait("document.title !== window.drawn")

    def go_to_judgment(self, number: int) -> None:
        """Choose a judgment of the response that is shown, and wait for its evidence."""
        self.find(f".response [data-judgment='{number}']").click()
        chosen = f".response [data-judgment='{number}'][aria-current]"
        self.wait(f"document.querySelector({json.dumps(chosen)})")

    def run(self, script: str, *arguments: Any) -> Any:
        """Return what a script returns."""
        return self.driver.execute_script(script, *arguments)

    def wait(self, condition: str) -> None:
        """Wait until a condition, in JavaScript, holds. Raises AssertionError if it never does."""
        end = time.monotonic() + PATIENCE
        while not self.run(f"return Boolean({condition})"):
            assert time.monotonic() < end, f"never: {condition}; {self.complaints()}"
            time.sleep(0.02)

    def find(self, selector: str) -> Any:
        """Return the first element that fits, once it is there."""
        self.wait(f"document.querySelector({json.dumps(selector)})")
        return self.driver.find_element("css selector", selector)

    def all(self, selector: str) -> list[Any]:
        """Return all elements that fit and can be seen."""
        return list(self.run(f"return {SEEN}", selector))

    def texts(self, selector: str) -> list[str]:
        """Return the text of each of these, on one line."""
        found = self.run(f"return {SEEN}.map(one => one.innerText)", selector)
        return [" ".join(text.split()) for text in found]

    def text(self, selector: str = "main") -> str:
        """Return the text that can be read in an element."""
        return str(self.find(selector).text)

    def complaints(self) -> list[str]:
        """Return what stands on the console, and forget it."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def asked(self) -> list[str]:
        """Return the addresses that were asked for since the last time: not files, nor refused."""
        events = [json.loads(e["message"])["message"] for e in self.driver.get_log("performance")]
        sent = {
            event["params"]["requestId"]: event["params"]["request"]["url"]
            for event in events
            if event["method"] == "Network.requestWillBeSent"
        }
        for event in events:
            if event["params"].get("blockedReason") == "csp":
                sent.pop(event["params"]["requestId"], None)
        return [url for url in sent.values() if not url.startswith(OWN)]


Open = Callable[..., Browser]
"""(page, address) -> the browser that shows it: the fixture `open_page`."""


@contextmanager
def browsing(width: int = 1400, height: int = 950, dark: bool = False) -> Iterator[Browser]:
    """Start a browser with a profile of its own; it ends with the block."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = next(path for path in map(shutil.which, CHROMIUM) if path)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        for flag in (*FLAGS, f"--user-data-dir={profile}", f"--window-size={width},{height}"):
            options.add_argument(flag)
        driver = webdriver.Chrome(options, Service(shutil.which("chromedriver")))
        try:
            size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
            driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
            scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
            driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
            yield Browser(driver)
        finally:
            driver.quit()
