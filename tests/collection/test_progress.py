"""A bar on a terminal, log lines elsewhere."""

import io
import logging

import pytest
from rich.console import Console

from normastcu.collection.progress import ProgressLines, count_progress, progress


def test_a_terminal_shows_name_bytes_and_an_end() -> None:
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=True, width=120)

    with progress("[norma].csv", console) as report:
        report(500_000, 2_000_000)
        report(2_000_000, 2_000_000)

    assert "[norma].csv" in screen.getvalue()
    assert "2.0/2.0 MB" in screen.getvalue()


def test_elsewhere_a_line_every_few_seconds(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    seconds = iter([0.0, 1.0, 5.0, 6.0, 10.0])
    report = ProgressLines("norma.csv", clock=lambda: next(seconds))

    report(100_000, 4_000_000)
    report(1_500_000, 4_000_000)
    report(2_000_000, 4_000_000)
    report(3_000_000, None)

    assert caplog.messages == ["norma.csv: 1.5 of 4.0 MB", "norma.csv: 3.0 MB"]


def test_a_stream_that_is_no_terminal_gets_no_bar() -> None:
    stream = io.StringIO()

    with progress("norma.csv", Console(file=stream)) as report:
        report(1, 2)

    assert stream.getvalue() == ""


def test_what_is_counted_is_shown_as_counts() -> None:
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=True, width=120)
    with count_progress("[S_1]", "pairs", console) as report:
        report(500, 2_000)
    assert "[S_1]" in screen.getvalue()
    assert "500/2000" in screen.getvalue()
    assert "pairs" in screen.getvalue()


def test_elsewhere_counts_are_lines_too(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    caplog.set_level(logging.INFO)
    monkeypatch.setattr("normastcu.collection.progress.SECONDS_BETWEEN_LINES", 0)
    with count_progress("S_1", "pairs", Console(file=io.StringIO())) as report:
        report(1_500, 26_220)
        report(3_000, None)
    assert caplog.messages == ["S_1: 1,500 of 26,220 pairs", "S_1: 3,000 pairs"]
