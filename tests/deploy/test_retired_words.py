"""`tools/retired_words.py` finds retired words, and its list of remaining ones only shrinks."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tests.conftest import ROOT

LIST = """
[terms]
"bell" = "wake-up"
"set aside" = "quarantined"
"Told" = "SessionInfo"

[allowed]
"docs/*" = ["bell"]

[todo]
"""


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("schedviz_retired_words", ROOT / "tools/retired_words.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["schedviz_retired_words"] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A tree with a list of three terms."""
    (tmp_path / "tools").mkdir()
    (tmp_path / "docs").mkdir()
    (tmp_path / "tools/retired-words.toml").write_text(LIST)
    return tmp_path


@pytest.mark.parametrize(
    "text", ["Lost bells.", "ring_bell()", "The Bell", "it was set\n    aside", "set_aside = 1", "schedviz_setAside", "class Told:"]
)
def test_a_retired_word_is_found_in_prose_and_in_names(tool: ModuleType, tree: Path, text: str):
    words = tool.read_words(tree / tool.LIST)

    assert len(words.uses("a.py", text)) == 1


@pytest.mark.parametrize("text", ["rebellion", "a bellow", "We told them.", "setasides2", "asset asides"])
def test_a_part_of_another_word_is_not_found(tool: ModuleType, tree: Path, text: str):
    words = tool.read_words(tree / tool.LIST)

    assert words.uses("a.py", text) == []


def test_the_message_names_the_location_and_the_replacement(tool: ModuleType, tree: Path, capsys: pytest.CaptureFixture[str]):
    (tree / "a.py").write_text("first = 1\nbell = 2\n")
    (tree / "docs/a.md").write_text("A bell is allowed here.\n")

    assert tool.main([], tree) == 1
    output = capsys.readouterr().out
    assert "a.py:2: 'bell' was retired: use 'wake-up'." in output
    assert "docs/a.md" not in output


def test_the_list_of_remaining_words_only_shrinks(tool: ModuleType, tree: Path):
    listed = tree / tool.LIST
    listed.write_text(LIST + '"a.py" = { "bell" = 2 }\n')

    (tree / "a.py").write_text("bell, bell, bell\n")
    assert tool.main([], tree) == tool.main(["--shrink"], tree) == 1

    (tree / "a.py").write_text("bell\n")
    assert tool.main([], tree) == 1, "one was replaced, so the entry is out of date"
    assert tool.main(["--shrink"], tree) == 0
    assert tool.read_words(listed).todo == {"a.py": {"bell": 1}}
    assert tool.main([], tree) == 0


def test_generated_folders_are_not_searched(tool: ModuleType, tree: Path):
    for folder in (".venv", "node_modules", "schedviz/web/static/app", "schedviz/experiments/report/built"):
        (tree / folder).mkdir(parents=True)
        (tree / folder / "a.js").write_text("bell")

    assert tool.main([], tree) == 0


def test_only_the_named_files_are_searched(tool: ModuleType, tree: Path):
    (tree / "a.py").write_text("bell\n")
    (tree / "b.py").write_text("wake_up\n")

    assert tool.main([str(tree / "b.py")], tree) == 0
    assert tool.main([str(tree / "a.py")], tree) == 1
