"""The Python blocks of the README run as they stand."""

from __future__ import annotations

import re
from pathlib import Path

README = Path(__file__).resolve().parents[2] / "README.md"


def test_every_python_block_of_the_readme_runs(capsys) -> None:
    text = README.read_text()
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.M | re.S)
    assert blocks
    for block in blocks:
        exec(compile(block, str(README), "exec"), {"__name__": "readme"})
    printed = capsys.readouterr().out
    assert "type(x) is int" in printed
    assert "expected type_match(int)" in printed
    assert "'ab' (str)" in printed
    for shown in re.findall(r"^```text\n(.*?)^```", text, re.M | re.S):
        assert shown in printed
