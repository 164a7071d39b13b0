# SPDX-License-Identifier: Apache-2.0
"""The lines of the table: what was measured, beside what, and how far it had to come."""

from dataclasses import asdict, dataclass


@dataclass
class Row:
    """One figure. What is judged is the ratio where there is one, else the value."""

    name: str
    value: float
    unit: str
    peer: str = ""  # what stands beside it, in words
    ratio: float | None = None
    must: float | None = None
    aim: float | None = None
    least: bool = False  # whether the figure has to be small

    @property
    def judged(self):
        return self.value if self.ratio is None else self.ratio

    @property
    def verdict(self):
        if self.must is None:
            return ""
        reaches = (lambda bound: self.judged <= bound) if self.least else (lambda bound: self.judged >= bound)
        if self.aim is not None and reaches(self.aim):
            return "aim"
        return "must" if reaches(self.must) else "SHORT"

    def bound(self, value):
        if value is None:
            return ""
        sign = "≤" if self.least else "≥"
        return f"{sign} {number(value)}" + (" ×" if self.ratio is not None else f" {self.unit}")

    def cells(self):
        ratio = "" if self.ratio is None else f"{self.ratio:.2f} ×"
        value = f"{number(self.value)} {self.unit}"
        return [self.name, value, self.peer, ratio, self.bound(self.must), self.bound(self.aim), self.verdict]

    def json(self):
        return {**asdict(self), "verdict": self.verdict}


HEADINGS = ["figure", "measured", "beside it", "ratio", "must", "aim", "reached"]


def number(value):
    if value == int(value) and abs(value) < 1e6:
        return f"{int(value)}"
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"


def table(rows):
    lines = [HEADINGS] + [row.cells() for row in rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(HEADINGS))]
    text = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() for line in lines]
    text.insert(1, "  ".join("-" * width for width in widths))
    return "\n".join(text)


def markdown(rows):
    lines = [HEADINGS, ["---"] * len(HEADINGS)] + [row.cells() for row in rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
