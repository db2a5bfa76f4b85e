"""Output of the command line on a terminal."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from schedviz import terminal


def test_text_is_wrapped_and_indented_only_on_terminals(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    text = "one two\x1bthree " * 8
    terminal.say_wrapped(text, indent=2)
    assert capsys.readouterr().out.count("\n") == 1

    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setattr(terminal, "shutil", SimpleNamespace(get_terminal_size=lambda: SimpleNamespace(columns=50)))
    terminal.say_wrapped(text, indent=2)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) > 1
    assert all(len(line) <= 50 and line.startswith("  ") for line in lines)
    assert "\\x1b" in lines[0]
