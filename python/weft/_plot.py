# SPDX-License-Identifier: Apache-2.0
"""A scatter plot with a front as SVG, without other packages: notebooks show it, save() writes it."""

from html import escape
from math import floor, log10

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 640, 400, 80, 16, 16, 48


def _ticks(least, most):
    """About five round numbers between two."""
    span = (most - least) or abs(most) or 1
    step = 10 ** floor(log10(span / 4))
    step *= next(f for f in (1, 2, 5, 10) if span / (step * f) <= 6)
    first = -(-least // step) * step
    return [first + i * step for i in range(int((most - first) / step * (1 + 1e-9)) + 1)]


class _Axis:
    """From values to places, with a little room on both sides."""

    def __init__(self, values, start, end):
        least, most = min(values, default=0), max(values, default=1)
        room = 0.05 * (most - least or abs(most) or 1)
        self.least, self.most, self.start, self.end = least - room, most + room, start, end

    def __call__(self, value):
        return self.start + (self.end - self.start) * (value - self.least) / (self.most - self.least)

    def ticks(self):
        return [(self(value), f"{value:.4g}") for value in _ticks(self.least, self.most)]


class Figure:
    """Points, and a front among them as steps."""

    def __init__(self, x_name, y_name, points, front):
        self.x_name, self.y_name, self.points, self.front = x_name, y_name, points, front

    def _frame(self, x, y):
        yield f'<rect x="{LEFT}" y="{TOP}" width="{WIDTH - LEFT - RIGHT}" height="{HEIGHT - TOP - BOTTOM}" class="f"/>'
        for place, shown in x.ticks():
            yield f'<text x="{place:.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{shown}</text>'
        for place, shown in y.ticks():
            yield f'<text x="{LEFT - 6}" y="{place + 4:.1f}" text-anchor="end">{shown}</text>'
        yield f'<text x="{(LEFT + WIDTH) / 2:.0f}" y="{HEIGHT - 8}" text-anchor="middle">{escape(self.x_name)}</text>'
        yield (f'<text transform="translate(14 {HEIGHT / 2:.0f}) rotate(-90)" text-anchor="middle">'
               f"{escape(self.y_name)}</text>")

    def _marks(self, x, y):
        for px, py in self.points:
            yield f'<circle cx="{x(px):.1f}" cy="{y(py):.1f}" r="3"/>'
        steps = [f"{'H' if i else 'M'}{x(px):.1f}{'V' if i else ' '}{y(py):.1f}" for i, (px, py) in enumerate(self.front)]
        if steps:
            yield f'<path d="{" ".join(steps)}"/>'

    def svg(self):
        x = _Axis([p[0] for p in self.points], LEFT, WIDTH - RIGHT)
        y = _Axis([p[1] for p in self.points], HEIGHT - BOTTOM, TOP)
        style = ("text{font:12px sans-serif;fill:#334155}.f{fill:none;stroke:#cbd5e1}"
                 "circle{fill:#64748b;opacity:.7}path{fill:none;stroke:#c2410c;stroke-width:2}")
        body = "\n".join([*self._frame(x, y), *self._marks(x, y)])
        return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}">'
                f"<style>{style}</style>\n{body}\n</svg>\n")

    _repr_svg_ = svg

    def save(self, file):
        with open(file, "w", encoding="utf-8") as out:
            out.write(self.svg())
