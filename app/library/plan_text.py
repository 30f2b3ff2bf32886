"""A plan as text for the command line and as plain data for programs."""

from __future__ import annotations

from app.clean import clean_line
from app.library.plan import Licence, Plan, PlannedFile
from app.percent import written
from engine.files.sizes import size_words


def plan_text(plan: Plan) -> str:
    """The plan in a few aligned lines."""
    lines = [clean_line(plan.title)]
    if plan.pair is not None:
        lines.append(f"  {clean_line(plan.pair.for_whom)}")
    if plan.replacing:  # first, so that no small screen hides it
        lines += ["", *(f"  replaces {clean_line(standing.words)}: lost for good" for standing in plan.replacing)]
    lines += ["", *_table(plan.files), ""]
    facts = [("draft", "prompt lookup, needs no file")] if plan.drafter == "lookup" else []
    facts += [("licence", _licence(licence)) for licence in plan.licences]
    if plan.gated:
        facts.append(("access", "gated: the hub gives it to accounts that accepted its licence"))
    if plan.memory is not None:
        facts.append(("memory", _memory(plan)))
    facts.append(("disk", _disk(plan)))
    facts.append(("total", _total(plan)))
    lines += [f"  {name:<8} {value}" for name, value in facts]
    if plan.refusal:
        lines += ["", plan.refusal]
    return "\n".join(lines)


def plan_json(plan: Plan) -> dict[str, object]:
    """The plan as data; every value is a string, a number, a list, a table, true, false or null."""
    return {
        "title": plan.title,
        "pair": plan.pair.name if plan.pair else None,
        "drafter": plan.drafter,
        "models_dir": str(plan.models_dir),
        "files": [_file(file) for file in plan.files],
        "licences": [{"name": licence.name, "url": licence.url} for licence in plan.licences],
        "gated": plan.gated,
        "size": plan.size,
        "to_fetch": plan.to_fetch,
        "complete": plan.complete,
        "replaces": [
            {"path": str(standing.path), "size": standing.size, "sha256": standing.sha256}
            for standing in plan.replacing
        ],
        "free": plan.free,
        "free_after": plan.free_after,
        "memory": None
        if plan.memory is None
        else {"needed": plan.memory.needed, "available": plan.memory.available, "verdict": plan.memory.verdict},
        "refusal": plan.refusal,
    }


def _table(files: tuple[PlannedFile, ...]) -> list[str]:
    rows = [
        (file.role, clean_line(file.name), size_words(file.size), _state(file), clean_line(file.origin))
        for file in files
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    return [
        f"  {role:<{widths[0]}}  {name:<{widths[1]}}  {size:>{widths[2]}}  {state:<{widths[3]}}  {origin}".rstrip()
        for role, name, size, state, origin in rows
    ]


def _state(file: PlannedFile) -> str:
    match file.state:
        case "here":
            return "here"
        case "partial":
            return f"{written(file.have * 100 // file.size)} here"
        case "changed":
            return "to fetch, changed on the hub since"
        case "damaged":
            return "to fetch, the one here is damaged"
        case "differs":
            return "another file of that name is here"
        case "absent":
            return "to fetch"


def _licence(licence: Licence) -> str:
    name = clean_line(licence.name)
    return f"{name}, {clean_line(licence.url)}" if licence.url else name


def _memory(plan: Plan) -> str:
    if plan.memory is None:
        return ""
    of = f" of {size_words(plan.memory.available)}" if plan.memory.available is not None else ""
    return f"about {size_words(plan.memory.needed)}{of}, {clean_line(plan.memory.verdict)}"


def _disk(plan: Plan) -> str:
    if plan.free is None or plan.free_after is None:
        return f"into {clean_line(str(plan.models_dir))}"
    after = f", {size_words(plan.free_after)} afterwards" if plan.to_fetch and plan.free_after >= 0 else ""
    return f"{size_words(plan.free)} free{after}, in {clean_line(str(plan.models_dir))}"


def _total(plan: Plan) -> str:
    if plan.complete:
        return f"{size_words(plan.size)}, all here"
    return f"{size_words(plan.size)}, {size_words(plan.to_fetch)} to fetch"


def _file(file: PlannedFile) -> dict[str, object]:
    return {
        "role": file.role,
        "name": file.name,
        "origin": file.origin,
        "repo": file.repo,
        "revision": file.revision,
        "url": file.url,
        "destination": str(file.destination),
        "size": file.size,
        "sha256": file.sha256,
        "state": file.state,
        "have": file.have,
        "to_fetch": file.to_fetch,
    }
