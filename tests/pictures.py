"""The pictures of the report in the README: taken in Chromium, each with a digest of what it shows.

`python -m tests.pictures` takes them again (`.ci/pictures` installs a browser first). With a FOLDER
it takes every view of a report into that, at three widths, light and dark: of NAME.report.html
where one is given, else of the sample data.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import struct
import tempfile
import zlib
from collections.abc import Iterator
from pathlib import Path

from tests.commandline import ROOT, SAMPLES, command
from tests.show.html.browser import Browser, browsing

THEMES = ("light", "dark")
PICTURES = {theme: ROOT / "docs" / "pictures" / f"report-{theme}.png" for theme in THEMES}
ASSETS = ROOT / "trecjudge" / "show" / "html" / "assets"
DATA = SAMPLES / "ragtime"
NAME = "ragtime_citations"
SHOWN = ("judgments.jsonl", "leaderboard.jsonl", "qrels")
"""Files of the job that the report is made of, without log and config, which have times."""

WIDTH = 1180
PARTS = (("#/", "body", 490), ("#/response/careless/502/2", "h1", 800))
"""Addresses in the report, the element that is to be at the top, and how many pixels are shown."""

WIDTHS = 1440, 1024, 390
HEIGHT, MOST_PIXELS = 950, 4000
"""Of a view: the window in which it opens, and how much of its length a picture has."""

KEY = b"trecjudge"
SIGNATURE = b"\x89PNG\r\n\x1a\n"


def judged(folder: Path) -> Path:
    """Judge the sample data into a folder, as the README does; return the report."""
    inputs = ["--rag-topics", DATA / "topics.jsonl", "--rag-responses", DATA / "runs"]
    inputs += ["--documents", DATA / "documents.jsonl", "--dataset", "ragtime"]
    done = command(*inputs, "--judge", "citation", "--out-dir", folder, "--name", NAME, "--report")
    assert done.status == 0, done.err
    return folder / f"{NAME}.report.html"


def digest(folder: Path) -> str:
    """Return a digest of what the report of that folder shows, without times and versions."""
    inputs = sorted(path for path in DATA.rglob("*") if path.is_file())
    shown = [*sorted(ASSETS.iterdir()), *inputs, *(folder / f"{NAME}.{name}" for name in SHOWN)]
    whole = hashlib.sha256(repr((WIDTH, PARTS)).encode())
    for path in shown:
        whole.update(path.name.encode() + hashlib.sha256(path.read_bytes()).digest())
    return whole.hexdigest()


def chunks(png: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield the kind and the content of each chunk of a PNG."""
    assert png.startswith(SIGNATURE)
    start = len(SIGNATURE)
    while start < len(png):
        length, kind = struct.unpack(">I4s", png[start : start + 8])
        yield kind, png[start + 8 : start + 8 + length]
        start += length + 12


def chunk(kind: bytes, content: bytes) -> bytes:
    """Return a chunk of a PNG."""
    check = struct.pack(">I", zlib.crc32(kind + content))
    return struct.pack(">I", len(content)) + kind + content + check


def stamped(png: bytes, text: str) -> bytes:
    """Return a PNG that carries a text."""
    header, *others = chunks(png)
    note = (b"tEXt", KEY + b"\0" + text.encode())
    return SIGNATURE + b"".join(chunk(*part) for part in (header, note, *others))


def stamp(png: bytes) -> str:
    """Return the text that a PNG carries; empty if none."""
    notes = (content.partition(b"\0") for kind, content in chunks(png) if kind == b"tEXt")
    return next((text.decode() for key, _, text in notes if key == KEY), "")


def picture(browser: Browser, page: Path, folder: Path) -> bytes:
    """Return one picture of all `PARTS` of a report, one below another."""
    shots = []
    for address, top, height in PARTS:
        sized(browser, height)
        browser.open(page, address)
        browser.run(SCROLL, top)
        shots.append(base64.b64encode(browser.driver.get_screenshot_as_png()).decode())
    images = "".join(f'<img src="data:image/png;base64,{shot}">' for shot in shots)
    both = folder / "both.html"
    both.write_text(f"<!doctype html>{images}", encoding="utf-8")
    browser.driver.get(both.as_uri())
    browser.wait("[...document.images].every((image) => image.complete)")
    return indexed(base64.b64decode(browser.run(PIXELS)), WIDTH)


SCROLL = """
const shown = [...document.querySelectorAll(arguments[0])].find((each) => each.offsetHeight);
window.scrollTo(0, shown.getBoundingClientRect().top + window.scrollY - 2);
"""
PIXELS = """
const images = [...document.images], canvas = document.createElement("canvas");
canvas.width = images[0].naturalWidth;
canvas.height = images.reduce((sum, image) => sum + image.naturalHeight, 0);
const context = canvas.getContext("2d");
let top = 0;
for (const image of images) {
  context.drawImage(image, 0, top);
  top += image.naturalHeight;
}
const bytes = context.getImageData(0, 0, canvas.width, canvas.height).data;
let text = "";
for (let at = 0; at < bytes.length; at += 32768)
  text += String.fromCharCode(...bytes.subarray(at, at + 32768));
return btoa(text);
"""
"""The images of a page, one below another, as bytes of red, green, blue and alpha."""


def indexed(pixels: bytes, width: int) -> bytes:
    """Return a PNG of at most 256 colours; a rarer colour becomes the nearest that is kept."""
    import numpy as np

    colours, which, counts = np.unique(
        np.frombuffer(pixels, np.uint8).reshape(-1, 4)[:, :3],
        axis=0,
        return_inverse=True,
        return_counts=True,
    )
    kept = colours[np.argsort(-counts, kind="stable")[:256]].astype(int)
    nearest = [int(np.abs(kept - colour).sum(axis=1).argmin()) for colour in colours.astype(int)]
    rows = np.array(nearest, np.uint8)[which.reshape(-1)].reshape(-1, width)
    lines = np.hstack([np.zeros((len(rows), 1), np.uint8), rows])  # 0: rows as they are
    header = struct.pack(">IIBBBBB", width, len(rows), 8, 3, 0, 0, 0)
    parts = (
        (b"IHDR", header),
        (b"PLTE", kept.astype(np.uint8).tobytes()),
        (b"IDAT", zlib.compress(lines.tobytes(), 9)),
        (b"IEND", b""),
    )
    return SIGNATURE + b"".join(chunk(*part) for part in parts)


def sized(browser: Browser, height: int, width: int = WIDTH) -> None:
    """Show so much of a page, without bars to scroll it."""
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    browser.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    browser.driver.execute_cdp_cmd("Emulation.setScrollbarsHidden", {"hidden": True})


def take() -> None:
    """Take the pictures and write them where the README shows them."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        page = judged(folder)
        for theme, path in PICTURES.items():
            with browsing(WIDTH, dark=theme == "dark") as browser:
                png = picture(browser, page, folder)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(stamped(png, digest(folder)))


def addresses(browser: Browser, page: Path) -> dict[str, str]:
    """Return the addresses of all views of a report by name: of runs and so on the first."""
    browser.open(page)
    found: dict[str, str] = browser.run(
        "return Object.fromEntries([...document.querySelectorAll('nav a')]"
        ".map((link) => [link.dataset.view, link.hash]))"
    )
    for view, kind in (("home", "run"), ("topics", "topic"), ("run", "response")):
        browser.open(page, found[view])
        links = f"a[href^='#/{kind}/']"
        found[kind] = browser.find(f".view:not([hidden]) {links}").get_attribute("hash")
    return found


def take_views(folder: Path, page: Path) -> None:
    """Write a picture of every view of a report, at each width and in each theme."""
    folder.mkdir(parents=True, exist_ok=True)
    for theme in THEMES:
        with browsing(dark=theme == "dark") as browser:
            for name, address in addresses(browser, page).items():
                for width in WIDTHS:
                    sized(browser, HEIGHT, width)
                    browser.open(page, address)
                    height = browser.run("return document.documentElement.scrollHeight")
                    sized(browser, min(height, MOST_PIXELS), width)
                    png = browser.driver.get_screenshot_as_png()
                    (folder / f"{name}-{width}-{theme}.png").write_bytes(png)


def main() -> None:
    """Take the pictures of the README, or all views into a folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, help="for all views of a report")
    parser.add_argument("page", nargs="?", type=Path, help="the report; by default of the samples")
    wanted = parser.parse_args()
    if wanted.folder is None:
        take()
        return
    with tempfile.TemporaryDirectory() as name:
        take_views(wanted.folder, wanted.page or judged(Path(name)))


if __name__ == "__main__":
    main()
