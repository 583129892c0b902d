"""Old bytes between the rows of a SQLite file, overwritten.

`secure_delete` zeroes what is deleted where it stands. But when SQLite moves rows to a neighbouring page, a copy of
them stays behind in the unallocated middle of the page they left, and deleting a row later does not reach its copy.
Nothing ever reads that middle; here it is filled with zeros, from outside, page by page.
"""

from __future__ import annotations

import os
import struct
from typing import Final

_TREE_PAGES: Final = {2: 12, 5: 12, 10: 8, 13: 8}
"""Kinds of b-tree pages, with the size of their header. The first byte of any other page is 0: it begins with a page
number, and files of 2^24 pages and more are not looked at."""
_FIRST_HEADER: Final = 100
_AT_ONCE: Final = 1 << 20
_MOST_PAGES: Final = 1 << 24
_LOCK_BYTE: Final = 1 << 30
_HEADER: Final = struct.Struct(">BHHH")


def zero_gaps(file: int) -> int:
    """Fills the unallocated middle of each page of an open SQLite file with zeros, durably. How many pages had any.

    The caller holds the database's write lock, with nothing in a write-ahead log; afterwards it drops its page cache,
    and so must whoever else writes. `file` must stay open as long as this process has the database open: closing it
    would take SQLite's own locks away (POSIX).
    """
    head = os.pread(file, _FIRST_HEADER, 0)
    if len(head) < _FIRST_HEADER:
        return 0
    size = int.from_bytes(head[16:18]) or 1
    size = 65_536 if size == 1 else size
    usable = size - head[20]
    pages = os.fstat(file).st_size // size
    if pages >= _MOST_PAGES:
        return 0
    changed = 0
    step = max(1, _AT_ONCE // size)
    for first in range(0, pages, step):
        content = os.pread(file, size * min(step, pages - first), first * size)
        for number in range(len(content) // size):
            changed += _zero_gap(file, content, number * size, (first + number) * size, usable)
    if changed:
        os.fsync(file)
    return changed


def _zero_gap(file: int, content: bytes, at: int, offset: int, usable: int) -> bool:
    """Of the page that begins at `at` in `content` and at `offset` in the file."""
    header = _FIRST_HEADER if offset == 0 else 0
    kind, _, cells, start = _HEADER.unpack_from(content, at + header)
    width = _TREE_PAGES.get(kind)
    if width is None or offset == _LOCK_BYTE:
        return False
    begin, end = header + width + 2 * cells, start or 65_536
    if not begin < end <= usable or not content[at + begin : at + end].strip(b"\0"):
        return False
    os.pwrite(file, bytes(end - begin), offset + begin)
    return True
