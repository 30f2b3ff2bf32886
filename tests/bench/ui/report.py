"""What was measured beside what it should be: a table, and JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Literal

from app.compare.neighbours import BUSY

Unit = Literal["s", "ms", "% of a core"]
FACTORS: dict[Unit, float] = {"s": 1, "ms": 1000, "% of a core": 100}


@dataclass(frozen=True, slots=True)
class Row:
    """One figure. ``value`` and ``target`` in seconds, or in cores."""

    name: str
    value: float
    target: float
    unit: Unit
    remark: str = ""
    ours: bool = False
    """The target is our own: the issue names none."""
    foreign: float | None = None
    """Cores' worth of work that others did meanwhile."""
    samples: tuple[float, ...] = field(default=(), repr=False)

    @property
    def ratio(self) -> float:
        """Of the target; 1 and below is met."""
        return self.value / self.target

    @property
    def met(self) -> bool:
        return self.ratio <= 1

    @property
    def busy(self) -> bool:
        """Whether others used the machine so much that the figure says little."""
        return self.foreign is not None and self.foreign > BUSY


def to_markdown(rows: Sequence[Row]) -> str:
    """The table."""
    lines = [
        "| measure | figure | target | of the target | | remark |",
        "| --- | ---: | ---: | ---: | --- | --- |",
    ]
    for row in rows:
        busy = f"beside {row.foreign:.2f} cores of foreign work" if row.busy else ""
        lines.append(
            f"| {row.name} | {shown(row.value, row.unit)} | {shown(row.target, row.unit)}{' *' if row.ours else ''} "
            f"| {row.ratio:.2f} | {'met' if row.met else '**not met**'} "
            f"| {'; '.join(words for words in (row.remark, busy) if words)} |"
        )
    if any(row.ours for row in rows):
        lines += ["", "\\* our own"]
    return "\n".join(lines)


def to_json(rows: Sequence[Row], machine: dict[str, str], settings: dict[str, object]) -> str:
    """Everything, samples included."""
    listed = [{**asdict(row), "ratio": round(row.ratio, 4), "met": row.met, "busy": row.busy} for row in rows]
    return json.dumps({"machine": machine, "settings": settings, "rows": listed}, indent=1) + "\n"


def save(path: Path, text: str) -> None:
    """Write it, and make the folder if it must."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def shown(value: float, unit: Unit) -> str:
    """
    >>> shown(0.0123, "ms"), shown(0.231, "% of a core"), shown(0.66, "s")
    ('12.3 ms', '23.1 % of a core', '0.66 s')
    """
    number = value * FACTORS[unit]
    return f"{number:.2f} {unit}" if unit == "s" else f"{number:.1f} {unit}"


def percentile(samples: Sequence[float], share: float) -> float:
    """The smallest sample that ``share`` of all do not exceed.

    >>> percentile([4, 1, 3, 2], 0.5), percentile([4, 1, 3, 2], 0.95)
    (2, 4)
    """
    ranked = sorted(samples)
    return ranked[max(0, math.ceil(share * len(ranked)) - 1)]
