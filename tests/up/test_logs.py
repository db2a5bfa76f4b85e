"""The lines of the children's logs that the terminal shows."""

from __future__ import annotations

import json
from pathlib import Path

from schedviz.up.logs import LogTail, last_lines, rotate


def write(path: Path, *lines: str) -> None:
    with path.open("a") as log:
        log.writelines(line + "\n" for line in lines)


def test_only_warnings_are_shown_and_only_once(tmp_path: Path):
    log = tmp_path / "web.log"
    write(log, '{"level": "error", "event": "before we looked"}')
    tail = LogTail(log)
    write(log, '{"level": "info", "event": "fine"}', '{"level": "error", "event": "the disk is full"}', "plain words")

    assert tail.new_lines() == ["the disk is full"]
    assert tail.new_lines() == []


def test_the_last_line_of_a_traceback_and_celery_errors_are_shown(tmp_path: Path):
    log = tmp_path / "io.log"
    tail = LogTail(log)
    write(log, "Traceback (most recent call last):", '  File "x.py", line 1, in f', "ValueError: no", "[ERROR/MainProcess] lost the broker")

    assert tail.new_lines() == ["ValueError: no", "[ERROR/MainProcess] lost the broker"]


def test_a_flood_of_warnings_is_truncated_with_the_path_of_the_log(tmp_path: Path):
    log = tmp_path / "web.log"
    tail = LogTail(log)
    write(log, *(json.dumps({"level": "error", "event": f"number {n}"}) for n in range(100)))

    news = tail.new_lines()

    assert len(news) < 10
    assert news[-1] == f"… and more in {log}"
    write(log, '{"level": "error", "event": "another"}')
    assert tail.new_lines() == []


def test_a_large_log_is_rotated_while_its_writer_continues(tmp_path: Path):
    log = tmp_path / "web.log"
    with log.open("a") as writer:
        writer.write("x" * 100 + "\n")
        writer.flush()

        assert rotate(log, 100)

        writer.write("after\n")
    assert log.read_text() == "after\n"
    assert (tmp_path / "web.log.1").read_text() == "x" * 100 + "\n"
    assert not rotate(log, 100)


def test_the_last_lines_of_a_log_are_shortened(tmp_path: Path):
    log = tmp_path / "web.log"
    write(log, *(f"line {n}" for n in range(50)), "", "y" * 1000)

    assert last_lines(log, lines=2) == ["line 49", "y" * 239 + "…"]
    assert last_lines(tmp_path / "absent.log") == []
