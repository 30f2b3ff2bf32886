"""What the engine has learned about a pair on this machine, kept from run to run in the cache folder.

A profile is a help, never a must: a file that is missing, damaged or of another shape is as good as none.
"""

from __future__ import annotations

import hashlib
import logging
import os
import platform
from pathlib import Path

from pydantic import BaseModel, Field, ValidationError

from engine.files.kept import read_kept
from engine.files.whole import write_whole
from engine.machine import FOLDER_VARIABLE
from engine.pacing import PacingProfile
from engine.protocol import SelfTestResult

log = logging.getLogger(__name__)

FORMAT = 2

MOST_BYTES = 1_000_000
"""More than any profile has."""


class Profile(BaseModel):
    """Pacing of one pair, or the self-test of one target, on one machine, with one build and one set of settings."""

    format: int = FORMAT
    target: str | None = Field(None, description="fingerprint of the target's file, for who looks pairs up by it")
    draft: str | None = Field(None, description="fingerprint of the draft's file; None: without one")
    pacing: PacingProfile = Field(default_factory=PacingProfile)
    selftest: SelfTestResult | None = None


class ProfileStore:
    """Profiles as JSON files named by a hash of everything they depend on."""

    def __init__(self, folder: Path | None = None) -> None:
        named = os.environ.get(FOLDER_VARIABLE)
        self.folder = folder or (Path(named) if named else None)

    def load(self, *key: object) -> Profile:
        """The profile kept under ``key`` on this machine, or an empty one."""
        path = self._path(key)
        if path is None:
            return Profile()
        try:
            profile = Profile.model_validate_json(read_kept(path, MOST_BYTES))
        except FileNotFoundError:
            return Profile()
        except (OSError, ValidationError) as error:
            log.warning("profile not used: %s", error)
            return Profile()
        return profile if profile.format == FORMAT else Profile()

    def save(self, profile: Profile, *key: object) -> None:
        """Keep ``profile``; whole or not at all. A folder that cannot be written costs only the memory of it."""
        path = self._path(key)
        if path is None:
            return
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, profile.model_dump_json().encode())
        except OSError as error:
            log.warning("profile not kept: %s", error)

    def _path(self, key: tuple[object, ...]) -> Path | None:
        if self.folder is None:
            return None
        name = hashlib.sha256(repr((platform.node(), platform.machine(), *key)).encode()).hexdigest()[:32]
        return self.folder / f"{name}.json"
