"""Grammars: read, refused with one sentence, followed like llama.cpp follows them, and harmless whatever they say."""

from __future__ import annotations

import ctypes
import re
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.grammar.gbnf import parse_gbnf
from engine.grammar.rules import GrammarError
from engine.grammar.states import MAX_WAYS, Automaton
from engine.grammar.tokens import Constraint, TokenTexts, TooAmbiguous
from engine.llama.backend import library
from engine.llama.model import Model
from engine.llama.vocab import Vocabulary
from engine.protocol import Sampling
from engine.sampling import Chooser
from tests.fixtures.pace import limit


def matches(grammar: str, text: str) -> bool:
    state = Automaton(parse_gbnf(grammar)).start
    for character in text:
        if state is None:
            return False
        state = state.after(character)
    return state is not None and state.complete


# ----------------------------------------------------------------------------------------------------------- notation


@pytest.mark.parametrize(
    ("grammar", "yes", "no"),
    [
        ('root ::= "ab" | "c"', ["ab", "c"], ["", "a", "abc"]),
        ('root ::= [a-cx-] [^a-c"]', ["ad", "-é", "x\n"], ["da", "ab", 'a"']),
        ('root ::= ("ab" [0-9])* "!"', ["!", "ab1ab2!"], ["ab!", "ab1"]),
        ('root ::= "a"? "b"+ "c"{2} "d"{1,} "e"{0,2}', ["bccd", "abbccddee"], ["accd", "bcd", "bccdeee"]),
        ('root ::= x # a remark\n\n# another\nx ::= (\n "a"\n | "b" ) |\n "c"', ["a", "b", "c"], ["ab"]),
        (r'root ::= "\"\\\n\x41\u00e9\U0001F99C" [\]\-\[]', ['"\\\nAé🦜-', '"\\\nAé🦜]'], ['"\\\nAé🦜a']),
        ("root ::= . .", ["ab", "\n🦜"], ["a"]),
        ('root ::= "a" rest\nrest ::= | "b" rest', ["a", "abbb"], ["b"]),
        ('root ::= "(" root ")" | "x"', ["x", "((x))"], ["((x)"]),
        ('root ::= ("a"*)*  "b"', ["b", "aaab"], ["a"]),
        ('root ::= "ab"{2}{2}', ["abababab"], ["abab"]),
        ('root ::= "a" "b"{0,0} "c"', ["ac"], ["abc"]),
        ('root ::= "x"\nroot ::= "y"', ["y"], ["x"]),
    ],
)
def test_a_grammar_allows_what_it_says(grammar: str, yes: list[str], no: list[str]) -> None:
    assert [text for text in yes if not matches(grammar, text)] == []
    assert [text for text in no if matches(grammar, text)] == []


@given(pattern=st.from_regex(r"\A(\[[a-c]{1,2}\]|\(?[a-c]\)?[?*+]?|[a-c]\{[0-2],[2-4]\}){1,5}\Z"), text=st.text("abc"))
@settings(max_examples=150, deadline=None)
def test_a_grammar_agrees_with_a_regular_expression(pattern: str, text: str) -> None:
    if pattern.count("(") != pattern.count(")") or not re.fullmatch(r"([^()]|\([a-c]\))*", pattern):
        return
    grammar = "root ::= " + re.sub(r"(?<!\[)(?<!\[[a-c])([a-c])(?![a-c]?\])", r'"\1" ', pattern).replace('" ?', '"?')
    assert matches(grammar, text) == bool(re.fullmatch(pattern, text)), grammar


BAD = {
    "": "no rule named root",
    'foo ::= "a"': "no rule named root",
    "root ::= x": "rule named x and does not define it",
    'root "a"': "line 1: a rule is its name",
    'root ::= "a"\nroot ::= "b': "line 2: .* not closed",
    "root ::= [a-": "not closed",
    "root ::= []": "empty",
    r'root ::= "\q"': r"escape \\q is not known",
    r'root ::= "\x4"': "2 hexadecimal digits",
    'root ::= ("a"': "a \\( is not closed",
    'root ::= "a" )': "closes nothing",
    "root ::= *": "needs something in front",
    'root ::= "a"{x}': r"is written \{2\}",
    'root ::= "a"{5,2}': "at least 5 and at most 2",  # counts below zero in llama.cpp, that is for ever
    "root ::= 'a'": "cannot stand here",
    "root ::= <nope>": "not one token",
    "%llguidance": "name was expected",
    'root ::= root "a" | "b"': "root begins with itself",
    'root ::= a root "z" | "y"\na ::= b b\nb ::= "x"?': "left recursion",  # llama.cpp does not see it and grows
    "root ::= ((x)*)*\nx ::= y z\ny ::= z?\nz ::= root ": "left recursion",
    'root ::= "a"{1000000}': "too large",
    'root ::= "a"{0,1000000}': "too large",
    "root ::= " + '("a"{200} "b"){200}' * 200 + "{200}": "too large",
    'root ::= "' + "a" * (1 << 20) + '"': "too large",
}


@pytest.mark.parametrize("grammar", BAD, ids=[grammar[:30] for grammar in BAD])
def test_a_bad_grammar_is_one_sentence(grammar: str) -> None:
    with pytest.raises(GrammarError, match=BAD[grammar]) as caught:
        parse_gbnf(grammar)
    assert re.fullmatch(r"The grammar[^\n]*\.", str(caught.value))
    assert len(str(caught.value)) < 200


@given(st.text(alphabet='root:=x"[]()|*+?{},019-^\\\n .<>!#é', max_size=60))
@settings(max_examples=300, deadline=None)
def test_any_text_is_a_grammar_or_a_sentence(text: str) -> None:
    try:
        automaton = Automaton(parse_gbnf("root ::= " + text, lambda name: 5))
    except GrammarError:
        return
    assert automaton.start is None or automaton.start.after("x") is None or True


# ------------------------------------------------------------------------------------------------------------ hostile


def test_brackets_may_be_as_deep_as_they_like() -> None:
    def nested(deep: int) -> str:
        return "root ::= " + "(" * deep + '"a"' + ")" * deep

    assert matches(nested(2_000), "a")
    assert not matches(nested(20_000), "b")  # llama.cpp's parser calls itself for each and overflows the stack


def test_a_long_chain_of_rules_is_followed_without_recursion() -> None:
    rules = "\n".join(f"r{i} ::= r{i + 1}" for i in range(4000))
    assert matches(f"root ::= r0\n{rules}\nr4000 ::= [a]", "a")


DOUBLING = {
    "two ways to close": 'root ::= " " root "b" | " " root "c" | " "',
    "three": 'root ::= [ a] root root root "b" | [ a] root "c" | [ a]',
    "empty in many ways": "root ::= a a a a a a a a\n"
    + "\n".join(f"{x} ::= {y} {y} {y} {y} {y} {y} {y} {y}" for x, y in zip("abcde", "bcdef", strict=True))
    + '\nf ::= " "?',
}


@pytest.mark.parametrize("name", DOUBLING)
def test_a_grammar_that_doubles_its_readings_ends_in_a_sentence_not_in_a_hang(name: str) -> None:
    pieces = [b" " * n for n in range(1, 65)] + [b"a" * n for n in range(1, 65)] + [b"b", b"c", b"</s>"]
    texts = TokenTexts(len(pieces), lambda token: pieces[token], [len(pieces) - 1])
    started = time.process_time()
    constraint = Constraint(parse_gbnf(DOUBLING[name]), texts)
    for _ in range(30):
        try:
            allowed = constraint.allowed()
        except TooAmbiguous:
            break
        if not len(allowed) or constraint.place is None:
            break
        constraint.accept(int(allowed[0]))
    assert time.process_time() - started < limit(20)
    assert constraint.place is None or len(constraint.place[0].heads) <= MAX_WAYS


# --------------------------------------------------------------------------------------------------------- vocabulary


@pytest.fixture(scope="module")
def vocabulary(random_model: Path) -> Iterator[Vocabulary]:
    model = Model(random_model)
    yield model.vocabulary
    model.close()


def llama_cpp_allows(vocabulary: Vocabulary, grammar: str, tokens: list[int]) -> set[int]:
    """The tokens that llama.cpp's own grammar sampler leaves behind these."""
    L = library()
    sampler = L.llama_sampler_init_grammar(vocabulary.handle, grammar.encode(), b"root")
    assert sampler
    for token in tokens:
        L.llama_sampler_accept(sampler, token)
    data = (L.llama_token_data * vocabulary.size)()
    for i in range(vocabulary.size):
        data[i].id = i
    array = L.llama_token_data_array(data, vocabulary.size, -1, False)
    L.llama_sampler_apply(sampler, ctypes.byref(array))
    L.llama_sampler_free(sampler)
    return {array.data[i].id for i in range(array.size) if array.data[i].logit == 0}


GRAMMARS = [
    'root ::= "the" (" " word)* "."?\nword ::= "of" | "and" | "your" | [a-h]+',
    "root ::= .*",
    "root ::= [^a-z]+ [é-🦜]*",
    'root ::= object\nobject ::= "{" (pair ("," pair)*)? "}"\npair ::= "\\"" [a-z ]* "\\":" (object | [0-9]+)',
    'root ::= ("é" | "e" | "🦜") root | "!"',
    'root ::= <[262]> "x" | !<[262]> <[270]>*',
]


@pytest.mark.parametrize("grammar", GRAMMARS)
@pytest.mark.parametrize("seed", range(3))
def test_tokens_are_allowed_as_llama_cpp_allows_them(vocabulary: Vocabulary, grammar: str, seed: int) -> None:
    random = np.random.default_rng(seed)
    constraint = Constraint(parse_gbnf(grammar), vocabulary.texts)
    shows_nothing = {token for token in range(vocabulary.size) if not vocabulary.piece(token)} - vocabulary.ends
    not_utf8 = {t for t in range(vocabulary.size) if any(b in (0xC0, 0xC1) or b > 0xF4 for b in vocabulary.piece(t))}
    tokens: list[int] = []
    for _ in range(14):
        allowed = set(constraint.allowed().tolist())
        assert allowed - shows_nothing == llama_cpp_allows(vocabulary, grammar, tokens) - shows_nothing - not_utf8
        assert all(constraint.allows(token) == (token in allowed) for token in range(0, vocabulary.size, 3))
        going_on = sorted(allowed - vocabulary.ends)
        if not going_on:
            break
        tokens.append(going_on[int(random.integers(len(going_on)))])
        constraint.accept(tokens[-1])


def test_control_tokens_are_not_text(vocabulary: Vocabulary) -> None:
    constraint = Constraint(parse_gbnf("root ::= .*"), vocabulary.texts)
    assert vocabulary.bos not in constraint.allowed()
    assert not constraint.allows(vocabulary.bos)


def test_a_named_token_is_allowed_by_name(vocabulary: Vocabulary) -> None:
    constraint = Constraint(parse_gbnf(f'root ::= <[{vocabulary.bos}]> "a"'), vocabulary.texts)
    assert constraint.allowed().tolist() == [vocabulary.bos]
    constraint.accept(vocabulary.bos)
    assert constraint.allows(vocabulary.tokenize("a", parse_special=False)[-1])


# ------------------------------------------------------------------------------------------------------------ choices


PIECES = [b"</s>", b"a", b"b", b"ab", b"c", b""]


def chooser(grammar: str, **sampling: object) -> Chooser:
    texts = TokenTexts(len(PIECES), lambda token: PIECES[token], [0])
    wish = Sampling(**({"temperature": 0, "top_k": 0, "top_p": 1, "min_p": 0} | sampling))  # type: ignore[arg-type]
    return Chooser(len(PIECES), wish, 1, constraint=Constraint(parse_gbnf(grammar), texts), ends=[0])


def test_the_best_token_that_fits_is_chosen_and_the_end_comes_where_the_grammar_is_complete() -> None:
    logits = np.array([9, 1, 2, 3, 8, 7], np.float32)
    one = chooser('root ::= "a" "b" "b"')
    answer = []
    for position in range(3):
        answer.append(one.choose(logits, position))
        one.accept(answer[-1])
    assert answer == [3, 2, 0]
    assert one.note is None


def test_noise_picks_among_what_fits_in_proportion() -> None:
    logits = np.log(np.array([0.01, 0.3, 0.1, 0.09, 0.5, 1e-9], np.float32))
    counts = np.zeros(len(PIECES))
    one = chooser('root ::= "a"* "b"', temperature=1)
    for position in range(6000):
        counts[one.choose(logits, position)] += 1
    assert counts / 6000 == pytest.approx(np.array([0, 0.3, 0.1, 0.09, 0, 0]) / 0.49, abs=0.025)


def test_a_dead_end_ends_the_answer_and_says_so() -> None:
    one = chooser('root ::= "a" [é]')
    logits = np.array([1, 2, 3, 4, 5, 6], np.float32)
    assert one.choose(logits, 0) == 1
    one.accept(1)
    assert one.choose(logits, 1) == 0
    assert one.note is not None
    assert "no token that could follow" in one.note


def test_a_banned_token_is_not_brought_back_by_the_grammar() -> None:
    texts = TokenTexts(len(PIECES), lambda token: PIECES[token], [0])
    constraint = Constraint(parse_gbnf('root ::= "a" | "ab"'), texts)
    one = Chooser(len(PIECES), Sampling(temperature=0), 1, suppressed=(3,), constraint=constraint, ends=[0])
    assert one.choose(np.array([0, 1, 2, 9, 3, 3], np.float32), 0) == 1


def test_proposals_move_the_grammar_only_while_they_are_made() -> None:
    one = chooser('root ::= "a" "b" "c"')
    logits = np.array([0, 5, 4, 1, 3, 2], np.float32)
    for _ in range(3):
        with one.proposing([]):
            tokens = []
            for position in range(4):
                tokens.append(one.choose(logits, position))
                one.accept(tokens[-1])
        assert tokens == [1, 2, 4, 0]
