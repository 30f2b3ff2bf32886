"""What is otherwise than when an answer was made: files, build, settings. A replay on other ones proves nothing."""

from __future__ import annotations

from pathlib import Path

from engine.files.fingerprint import fingerprint
from engine.protocol import ModelInfo, PairInfo, Receipt


def file_trouble(model: ModelInfo) -> str | None:
    """Why the file that answered cannot answer now; None when it is the same, as far as its size, first and last MiB
    say."""
    path = Path(model.path)
    try:
        now = fingerprint(path)
    except OSError:
        return f"{path} is not there any more."
    if now != model.fingerprint:
        return other_file(path, model.fingerprint, now)
    return None


def other_file(path: Path, then: str, now: str) -> str:
    """The sentence, with the beginnings of both hashes."""
    return f"{path} is another file than the one that answered ({then[:12]} then, {now[:12]} now)."


def differences(receipt: Receipt, pair: PairInfo, versions: dict[str, str]) -> list[str]:
    """One sentence for each circumstance that may change an answer."""
    found = []
    for name, then in sorted(receipt.versions.items()):
        now = versions.get(name)
        if now != then:
            found.append(f"{name} was {then} then and is {now or 'not here'} now.")
    if receipt.build and pair.build and pair.build != receipt.build:
        found.append(f"It was made by another build of llama.cpp ({receipt.build} then, {pair.build} now).")
    if pair.template.sha256 != receipt.template.sha256:
        found.append("The chat template is another one; the prompt is taken as it was then.")
    if pair.backend != receipt.backend:
        found.append(f"It ran on {receipt.backend} then and on {pair.backend} now.")
    if pair.threads != receipt.threads:
        found.append(f"It ran with {receipt.threads} threads then and with {pair.threads} now.")
    if pair.badge != receipt.mode:
        found.append(f"The mode was {receipt.mode} then and is {pair.badge} now.")
    return found
