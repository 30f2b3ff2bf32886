"""When something was said, in the words of a list: a heading for the day or month, and a short moment in it."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

TODAY: Final = "Today"
YESTERDAY: Final = "Yesterday"
THIS_WEEK: Final = "This week"


def now() -> datetime:
    """The time that lists are drawn for."""
    return datetime.now()


def heading(when: datetime, now: datetime) -> str:
    """``Today``, ``Yesterday``, ``This week`` (from Monday on), ``October 2026``. A clock that was ahead: today."""
    day, today = when.date(), now.date()
    if day >= today:
        return TODAY
    if day == today - timedelta(days=1):
        return YESTERDAY
    if day >= today - timedelta(days=today.weekday()):
        return THIS_WEEK
    return f"{when:%B %Y}"


def moment(when: datetime, now: datetime, *, under: str = "") -> str:
    """``14:02`` today, ``Mon`` this week, ``12 Nov`` this year, ``12 Nov 2025``; ``under``: the heading that says the
    rest already."""
    section = heading(when, now)
    if section == TODAY or section == under == YESTERDAY:
        return f"{when:%H:%M}"
    if section == YESTERDAY:
        return "yesterday"
    if section == THIS_WEEK:
        return f"{when:%a}"
    day = f"{when.day} {when:%b}"
    return day if under == section or when.year == now.year else f"{day} {when.year}"
