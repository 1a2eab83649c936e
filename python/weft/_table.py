# SPDX-License-Identifier: Apache-2.0
"""Rows with names: a data frame where pandas is installed, else a small table of its own."""

try:
    import pandas
except ImportError:
    pandas = None


def table(rows):
    """A pandas.DataFrame of dicts, or a Table."""
    rows = list(rows)
    return Table(rows) if pandas is None else pandas.DataFrame(rows)


def records(rows):
    """The dicts of a table of either kind."""
    return rows.to_dict("records") if hasattr(rows, "to_dict") else list(rows)


class Table(list):
    """A list of dicts; table["cycles"] is a column, table[["name", "cycles"]] a table of some columns."""

    def __getitem__(self, key):
        if isinstance(key, str):
            return [row[key] for row in self]
        if isinstance(key, list):
            return Table({name: row[name] for name in key} for row in self)
        chosen = super().__getitem__(key)
        return Table(chosen) if isinstance(key, slice) else chosen

    @property
    def columns(self):
        return list(self[0]) if len(self) > 0 else []

    def __str__(self):
        lines = [self.columns] + [[_shown(value) for value in row.values()] for row in self]
        widths = [max(map(len, column)) for column in zip(*lines)]
        return "\n".join("  ".join(f"{word:>{width}}" for word, width in zip(line, widths)) for line in lines)


def _shown(value):
    return f"{value:.4g}" if isinstance(value, float) else str(value)
