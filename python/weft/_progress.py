# SPDX-License-Identifier: Apache-2.0
"""Progress for people: one line on a terminal or in a notebook, written over."""

import sys
import time


def _is_notebook():
    return "ipykernel" in sys.modules


class Line:
    """A function for `progress`: at most ten lines a second."""

    def __init__(self, out=None):
        self.out, self.last, self.width = out or sys.stderr, 0.0, 0

    def __call__(self, what, done, total, shown):
        now = time.monotonic()
        if now < self.last + 0.1 and done != total:
            return
        self.last = now
        line = f"{what}: {done} of {total}, {shown}" if total else f"{what}: {shown}"
        self.out.write("\r" + line.ljust(self.width))
        self.out.flush()
        self.width = len(line)

    def close(self):
        if self.width > 0:
            self.out.write("\r" + " " * self.width + "\r")
            self.out.flush()


def chosen(progress):
    """The function for a call's `progress`: None is a line where somebody sees it, True a line, False nothing."""
    if progress is None:
        progress = sys.stderr.isatty() or _is_notebook()
    return Line() if progress is True else progress or None


def ended(function):
    if isinstance(function, Line):
        function.close()
