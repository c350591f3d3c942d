"""A real browser, headless, which complains of nothing: Debian's chromium, driven by Playwright."""

import contextlib
import os
import shutil
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

PATIENCE = 20_000.0
"""Milliseconds: longer than anything takes here."""

Open = Callable[..., Page]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    if "GPUYARD_BROWSER" not in os.environ:
        pytest.skip("needs a browser: make browser")
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("there is no chromium: kind/packages.sh installs it")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def opened(browser: Browser) -> Iterator[Open]:
    """Opens pages; at the end none of them may have complained of an error, or of a breach of its policy."""
    complaints: list[str] = []

    def open_(url: str, *, silent: bool = False, **settings: Any) -> Page:
        context = ends.enter_context(contextlib.closing(browser.new_context(**settings)))
        context.set_default_timeout(PATIENCE)
        page = context.new_page()
        page.on("pageerror", lambda error: complaints.append(str(error)))
        if not silent:
            page.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
        page.goto(url)
        return page

    with contextlib.ExitStack() as ends:
        yield open_
    assert complaints == []
