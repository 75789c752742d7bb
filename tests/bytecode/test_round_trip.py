"""What is read and assembled again is the same code object, bit for bit."""

from __future__ import annotations

from functools import cache
from types import CodeType

import pytest
from guardtree.bytecode import assemble, read, unfused
from made_code import library

SAME = [
    "co_code",
    "co_names",
    "co_varnames",
    "co_cellvars",
    "co_freevars",
    "co_nlocals",
    "co_linetable",
    "co_exceptiontable",
    "co_flags",
    "co_firstlineno",
    "co_qualname",
]


def differences(code: CodeType, again: CodeType) -> list[str]:
    found = [name for name in SAME if getattr(code, name) != getattr(again, name)]
    if list(map(id, code.co_consts)) != list(map(id, again.co_consts)):
        found.append("co_consts")
    return found


@cache
def round_trips() -> list[tuple[CodeType, CodeType]]:
    """Each code object of the library, and what became of it."""
    return [(code, assemble(read(code), code)) for code in library()]


def test_the_standard_library_comes_out_bit_identical() -> None:
    assert len(round_trips()) > 4000
    changed = {
        f"{code.co_filename}: {code.co_qualname}": found
        for code, again in round_trips()
        if (found := differences(code, again))
    }
    assert not changed


def test_the_stack_size_is_the_compilers() -> None:
    """Or less: the compiler counts a handler of no instruction, one code in 3,000."""
    pairs = [(code.co_stacksize, made.co_stacksize) for code, made in round_trips()]
    assert all(made <= theirs for theirs, made in pairs)
    assert sum(made < theirs for theirs, made in pairs) <= len(pairs) / 2000


def test_positions_and_handlers_are_those_that_dis_tells() -> None:
    """Read by another reader, so that reader and assembler cannot err alike."""
    import dis

    for code in library()[::10]:
        ours = [i for i in read(code)]
        theirs = [i for i in dis.get_instructions(code) if i.opname != "EXTENDED_ARG"]
        assert [i.offset for i in ours] == [i.offset for i in theirs]
        assert [i.opname for i in ours] == [i.opname for i in theirs]
        for mine, other in zip(ours, theirs):
            place = other.positions
            assert (mine.position or (None,) * 4) == (
                place.lineno,
                place.end_lineno,
                place.col_offset,
                place.end_col_offset,
            )
        covering = {}
        for entry in dis._parse_exception_table(code):
            for offset in range(entry.start, entry.end, 2):
                covering[offset] = (entry.target, entry.depth, entry.lasti)
        for mine in ours:
            handler = mine.handler
            found = handler and (handler.target.offset, handler.depth, handler.lasti)
            assert found == covering.get(mine.offset)


def test_code_that_ran_reads_as_the_compiler_wrote_it() -> None:
    def hot(items):
        total = 0
        for item in items:
            total += item
        return total

    before = [repr(i) for i in read(hot.__code__)]
    for _ in range(200):
        hot(range(50))
    assert [repr(i) for i in read(hot.__code__)] == before


def test_a_redundant_extended_arg_is_left_out() -> None:
    import dis

    def source(x):
        return x

    plain = source.__code__
    at = plain.co_code.index(bytes([dis.opmap["RETURN_VALUE"]]))
    padded = plain.co_code[:at] + bytes([dis.EXTENDED_ARG, 0]) + plain.co_code[at:]
    again = assemble(read(plain.replace(co_code=padded)), plain)
    assert again.co_code == plain.co_code


def test_code_without_columns_or_lines_comes_out_identical(run_alone) -> None:
    run_alone(
        """
        import alone, shlex
        from pathlib import Path
        from guardtree.bytecode import assemble, read
        from made_code import nested
        for code in nested(compile(Path(shlex.__file__).read_bytes(), "", "exec")):
            assert all(None in place for place in code.co_positions())
            again = assemble(read(code), code)
            # Entries that only columns told apart are one entry now.
            assert list(again.co_positions()) == list(code.co_positions())
            assert again.co_code == code.co_code
            bare = code.replace(co_linetable=b"")
            assert assemble(read(bare), bare).co_code == bare.co_code
        """,
        *("-X", "no_debug_ranges"),
    )


def test_the_subpackage_needs_nothing_but_the_standard_library(run_alone) -> None:
    run_alone(
        """
        import sys
        before = set(sys.modules)
        import alone
        sys.modules["guardtree"] = alone.bare_package()
        import guardtree.bytecode
        added = {name.partition(".")[0] for name in set(sys.modules) - before}
        assert added <= {*sys.stdlib_module_names, "alone", "guardtree"}, added
        assert "guardtree._guardtree" not in sys.modules
        """
    )


def test_unfused_code_of_the_library_has_the_same_stack() -> None:
    for code in library()[::20]:
        made = assemble(unfused(read(code)), code)
        assert not [i for i in read(made) if i.opname.count("_FAST") > 1]
        assert not [i for i in read(made) if "BORROW" in i.opname]


def test_a_handler_that_leads_nowhere_is_refused() -> None:
    def guarded():
        try:
            print()
        except ValueError:
            dir()

    code = guarded.__code__
    table = bytearray(code.co_exceptiontable)
    table[2] = 0x3F  # the target of the first entry
    with pytest.raises(ValueError, match="offset 126, where no instruction starts"):
        read(code.replace(co_exceptiontable=bytes(table)))


def test_a_table_that_is_cut_off_is_refused() -> None:
    def guarded():
        try:
            print()
        except ValueError:
            dir()

    code = guarded.__code__
    cut = code.co_exceptiontable[:-1]
    with pytest.raises(ValueError, match="table ends inside the entry"):
        read(code.replace(co_exceptiontable=cut))
