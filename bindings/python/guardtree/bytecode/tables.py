"""The two tables beside the bytecode: exceptions and lines, as bytes.

Formats: Objects/exception_handling_notes.txt and Objects/locations.md (3.11, 3.12),
InternalDocs/exception_handling.md and code_objects.md (3.13 and later). They are the
same on 3.11 to 3.15.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from .instructions import Position

# Codes of a location entry: its first byte is 0x80 | code << 3 | (units - 1).
_ONE_LINE = 10  # 10 to 12: the line moves by code - 10
_NO_COLUMNS = 13
_LONG_FORM = 14
_NO_LOCATION = 15
_ENTRY_UNITS = 8


class Region(NamedTuple):
    """An entry of the exception table; start, end and target in bytes."""

    start: int
    end: int
    target: int
    depth: int
    lasti: bool


def _exception_varint(value: int, first: int = 0) -> bytes:
    """Six bits a byte, the highest first; 0x40: more follow; `first` marks an entry."""
    parts = [value & 63]
    while value := value >> 6:
        parts.append(0x40 | value & 63)
    parts[-1] |= first
    return bytes(reversed(parts))


def read_exception_table(table: bytes) -> Iterator[Region]:
    """The entries of a co_exceptiontable. Raises ValueError where one is cut off."""
    stream = iter(table)

    def varint() -> int:
        byte = next(stream)
        value = byte & 63
        while byte & 0x40:
            byte = next(stream)
            value = value << 6 | byte & 63
        return value

    while True:
        try:
            start = varint() * 2
        except StopIteration:
            return
        try:
            end, target, kept = start + varint() * 2, varint() * 2, varint()
        except StopIteration:
            raise ValueError(
                f"the exception table ends inside the entry for offset {start}"
            ) from None
        yield Region(start, end, target, kept >> 1, bool(kept & 1))


def exception_table(regions: Iterable[Region]) -> bytes:
    """The co_exceptiontable of regions, which are sorted and do not overlap."""
    table = bytearray()
    for start, end, target, depth, lasti in regions:
        table += _exception_varint(start // 2, first=0x80)
        table += _exception_varint((end - start) // 2)
        table += _exception_varint(target // 2)
        table += _exception_varint(depth << 1 | lasti)
    return bytes(table)


def _line_varint(value: int) -> bytes:
    """Six bits a byte, the lowest first; 0x40: more follow."""
    parts = bytearray()
    while value > 63:
        parts.append(0x40 | value & 63)
        value >>= 6
    parts.append(value)
    return bytes(parts)


def _signed_line_varint(value: int) -> bytes:
    return _line_varint(-value << 1 | 1 if value < 0 else value << 1)


def _line_entry(position: Position | None, line: int) -> tuple[int, bytes]:
    """The code of an entry and what follows its first byte.

    The shortest form there is, as the compiler chooses it.
    """
    start, end, column, end_column = position or (None,) * 4
    if start is None:
        return _NO_LOCATION, b""
    delta = start - line
    if column is None or end_column is None:
        if end is None or end == start:
            return _NO_COLUMNS, _signed_line_varint(delta)
    elif end == start:
        width = end_column - column
        if delta == 0 and column < 80 and 0 <= width < 16:
            return column >> 3, bytes(((column & 7) << 4 | width,))
        if 0 <= delta < 3 and column < 128 and end_column < 128:
            return _ONE_LINE + delta, bytes((column, end_column))
    return _LONG_FORM, b"".join(
        (
            _signed_line_varint(delta),
            _line_varint((start if end is None else end) - start),
            _line_varint(0 if column is None else column + 1),
            _line_varint(0 if end_column is None else end_column + 1),
        )
    )


def line_table(spans: Iterable[tuple[Position | None, int]], first_line: int) -> bytes:
    """The co_linetable of (position, code units) in the order of the code."""
    table = bytearray()
    line = first_line
    for position, units in spans:
        while units > 0:
            code, rest = _line_entry(position, line)
            table.append(0x80 | code << 3 | min(units, _ENTRY_UNITS) - 1)
            table += rest
            if position is not None and position[0] is not None:
                line = position[0]
            units -= _ENTRY_UNITS
    return bytes(table)
