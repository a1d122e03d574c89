"""The console examples of docs/user_guide/commands.md run as written, in their order."""

import doctest
import re
import shlex
from pathlib import Path

import pytest

from mbauc.cli.main import main

pytest.importorskip("pyarrow", reason="tables are read with pyarrow")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("default::mbauc.errors.OneClassGroupsWarning"),  # a note on standard error
]

PAGE = Path(__file__).parents[2] / "docs" / "user_guide" / "commands.md"
LOOSE = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def examples():
    for block in re.findall(r"```console\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL):
        for example in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = example.partition("\n")
            command, _, remark = command.partition("  # exit code ")
            yield command, output, int(remark or 0)


def test_every_command_of_the_page_says_what_the_page_says(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    checker, seen = doctest.OutputChecker(), set()
    for command, expected, code in examples():
        program, *words = shlex.split(command)
        assert program == "mbauc"
        assert main(words) == code, command
        out, err = capsys.readouterr()
        told = err if code else out
        assert checker.check_output(expected, told, LOOSE), f"$ {command}\n{told}\nexpected:\n{expected}"
        seen.add(words[0])
    assert seen >= {"fit", "evaluate", "threshold", "score", "inspect", "update", "compare", "merge", "export"}
