"""From a request's settings to the choosers of target and draft; what cannot be used is said in words."""

from __future__ import annotations

from collections.abc import Sequence

from engine.grammar.gbnf import parse_gbnf
from engine.grammar.rules import Grammar, GrammarError
from engine.grammar.tokens import Constraint
from engine.llama.breakers import Breakers, breakers_of
from engine.llama.json_schema import schema_to_gbnf
from engine.llama.vocab import Vocabulary
from engine.protocol import Sampling
from engine.repetition import Dry
from engine.sampling import Chooser


class BadSettings(Exception):
    """The sampling settings cannot be used with this model; ``str()`` is one sentence for people."""


class ChoiceRule:
    """One answer's rule of choice: the settings as they apply to the target's vocabulary, and the seed.

    ``so_far``: the tokens that the answer begins with, when it is continued; choosers take them as emitted, so they
    are in the state they would be in had they chosen them. ``notes``: what of the settings has no effect. Raises
    BadSettings.
    """

    def __init__(
        self, sampling: Sampling, seed: int, target: Vocabulary, prompt: Sequence[int], so_far: Sequence[int] = ()
    ) -> None:
        self._sampling, self._seed, self._target, self._prompt = sampling, seed, target, prompt
        self._so_far = so_far
        self.notes: tuple[str, ...] = ()
        outside = [token for token in sampling.logit_bias if not 0 <= token < target.size]
        if outside:
            raise BadSettings(f"The logit bias names token {outside[0]}, but this model has {target.size:,} tokens.")
        self._breakers: Breakers = breakers_of(target, sampling.dry_sequence_breakers) if Dry.wanted(sampling) else {}
        try:
            self._grammar = self._read_grammar()
        except GrammarError as error:
            raise BadSettings(str(error)) from error

    def chooser(self, vocabulary_size: int | None = None) -> Chooser:
        """A chooser for the target, or for a draft with a vocabulary of this size that equals the target's."""
        constraint = Constraint(self._grammar, self._target.texts) if self._grammar else None
        chooser = Chooser(
            self._target.size if vocabulary_size is None else vocabulary_size,
            self._sampling,
            self._seed,
            self._target.suppressed,
            prompt=self._prompt,
            breakers=self._breakers,
            constraint=constraint,
            ends=sorted(self._target.ends),
        )
        for token in self._so_far:
            chooser.accept(token)
        if constraint is not None and constraint.place is None:
            raise BadSettings(
                "The answer so far does not follow the grammar, so it cannot be continued under it. "
                "Nothing was lost; make the answer again, or continue it without the grammar."
            )
        return chooser

    def _read_grammar(self) -> Grammar | None:
        text = self._sampling.grammar
        if self._sampling.json_schema is not None:
            if text is not None:
                raise BadSettings("A grammar and a JSON schema cannot both rule one answer; choose one.")
            text, ignored = schema_to_gbnf(self._sampling.json_schema)
            if ignored:
                self.notes = (f"the JSON schema's {', '.join(ignored)} cannot be enforced",)
        if text is None:
            return None
        if not self._target.ends:
            raise BadSettings("This model has no end token, so an answer could not end where the grammar does.")
        try:
            grammar = parse_gbnf(text, self._token_id)
        except GrammarError as error:
            if self._sampling.json_schema is None:
                raise
            raise BadSettings(f"The JSON schema cannot be turned into a grammar. {error}") from error
        if Constraint(grammar, self._target.texts).place is None:
            raise BadSettings("The grammar allows no text at all, or can be read in too many ways.")
        return grammar

    def _token_id(self, text: str) -> int | None:
        ids = self._target.tokenize(text, parse_special=True)
        return ids[0] if len(ids) == 1 else None
