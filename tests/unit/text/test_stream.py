"""Characters appear when they are complete; nothing of a stop string is ever shown."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.text.stream import StopMatch, StopStrings, TextStream, Utf8Stream, shown_lengths

SOME_BYTES = st.one_of(
    st.binary(max_size=40),
    st.text(max_size=20).map(lambda text: text.encode("utf-8", "replace")),
    st.lists(st.sampled_from([b"\xf0\x9f\x98\x80", b"\xe2\x82", b"\xed\xa0\x80", b"\xc3", b"\xa9", b"\xff", b"a"])).map(
        b"".join
    ),
)


def cut(data: bytes, cuts: list[int]) -> list[bytes]:
    edges = sorted({0, len(data), *(c % (len(data) + 1) for c in cuts)})
    return [data[a:b] for a, b in itertools.pairwise(edges)]


def without_incomplete_end(data: bytes) -> str:
    """The specification, without an incremental decoder: drop a tail that more bytes would make a character."""
    for length in (3, 2, 1):
        tail = data[-length:]
        rests = [byte * count for byte in (b"\x80", b"\xbf") for count in (1, 2, 3)]
        if len(data) >= length and any(_is_character(tail + rest) for rest in rests):
            return data[:-length].decode("utf-8", "replace")
    return data.decode("utf-8", "replace")


def _is_character(data: bytes) -> bool:
    try:
        return len(data.decode("utf-8")) == 1
    except UnicodeDecodeError:
        return False


@given(SOME_BYTES, st.lists(st.integers(0, 60), max_size=10))
def test_joined_stream_equals_the_whole_decode(data: bytes, cuts: list[int]) -> None:
    stream = Utf8Stream()
    joined = "".join(stream.push(part) for part in cut(data, cuts))
    assert joined == without_incomplete_end(data)
    assert joined + stream.incomplete.decode("utf-8", "replace") == data.decode("utf-8", "replace")


@given(st.text(max_size=20).filter(lambda text: text.encode("utf-8", "replace").decode() == text))
def test_every_character_appears_with_its_last_byte(text: str) -> None:
    stream = Utf8Stream()
    for char in text:
        *first, last = char.encode()
        assert all(stream.push(bytes([byte])) == "" for byte in first)
        assert stream.push(bytes([last])) == char


def test_half_an_emoji_at_the_end_is_left_out() -> None:
    stream = TextStream()
    shown = [stream.push(bytes([byte])).text for byte in "é😀".encode()[:-1]]
    assert shown == ["", "é", "", "", ""]
    assert stream.finish() == ""


def test_leading_spaces_are_kept() -> None:
    stream = TextStream(["stop"])
    assert stream.push(b"  two").text + stream.push(b" ").text + stream.finish() == "  two "


def test_a_stop_string_over_several_tokens_never_flashes() -> None:
    stream = TextStream(["beta"])
    pieces = [stream.push(piece) for piece in (b"alpha ", b"be", b"ta", b"gamma")]
    assert [piece.text for piece in pieces] == ["alpha ", "", "", ""]
    assert [piece.stopped for piece in pieces] == [False, False, True, True]
    assert stream.match == StopMatch("beta", 6)
    assert stream.finish() == ""


def test_a_false_alarm_is_released_at_once() -> None:
    stream = TextStream(["beta"])
    assert [stream.push(piece).text for piece in (b"be", b"ar", b" bet")] == ["", "bear", " "]
    assert stream.finish() == "bet"
    assert stream.match is None


def test_text_before_a_stop_in_the_same_token_is_shown() -> None:
    stream = TextStream(["\n\n", "User:"])
    piece = stream.push("naïve\nUser: and more\n\n".encode())
    assert (piece.text, piece.stopped) == ("naïve\n", True)
    assert stream.match == StopMatch("User:", 6)


def test_of_several_stop_strings_the_first_to_be_complete_wins() -> None:
    for tokens in ([b"xabcd"], [b"x", b"a", b"b", b"c", b"d"]):
        stream = TextStream(["abcd", "bc", "c"])
        shown = "".join(stream.push(token).text for token in tokens)
        assert shown == "xa"
        assert stream.match == StopMatch("bc", 2)


def test_only_what_could_become_a_stop_string_is_held() -> None:
    stops = StopStrings(["aab"])
    assert stops.push("aaa") == "a"
    assert stops.push("a") == "a"
    assert stops.push("c") == "aac"


def test_empty_stop_strings_are_ignored() -> None:
    stream = TextStream(["", ""])
    assert stream.push(b"text").text == "text"
    assert stream.match is None


def test_a_stop_string_of_split_characters() -> None:
    stream = TextStream(["😀!"])
    pieces = [stream.push(bytes([byte])) for byte in "a😀!b".encode()]
    assert "".join(piece.text for piece in pieces) == "a"
    assert pieces[-1].stopped


def reference(text: str, stops: list[str]) -> tuple[str, StopMatch | None]:
    """The specification: look at every prefix of the whole text."""
    for end in range(1, len(text) + 1):
        ending = [stop for stop in stops if stop and text[:end].endswith(stop)]
        if ending:
            longest = max(ending, key=len)
            return text[: end - len(longest)], StopMatch(longest, end - len(longest))
    return text, None


@given(
    st.text(alphabet="abé", max_size=30),
    st.lists(st.text(alphabet="abé", max_size=4), max_size=4),
    st.lists(st.integers(0, 60), max_size=10),
)
def test_stop_strings_do_not_depend_on_the_cut(text: str, stops: list[str], cuts: list[int]) -> None:
    stream = TextStream(stops)
    shown = ""
    whole, match = reference(text, stops)
    for part in cut(text.encode(), cuts):
        shown += stream.push(part).text
        assert whole.startswith(shown)
    assert shown + stream.finish() == whole
    assert stream.match == match


@given(st.text(alphabet="ab", max_size=30), st.lists(st.text(alphabet="ab", min_size=1, max_size=4), max_size=4))
def test_no_more_is_held_back_than_needed(text: str, stops: list[str]) -> None:
    matcher = StopStrings(stops)
    shown = matcher.push(text)
    if matcher.match is None:
        held = text[len(shown) :]
        longest = max((n for stop in stops for n in range(len(stop)) if text.endswith(stop[:n])), default=0)
        assert len(held) == longest


@pytest.mark.parametrize("length", [10, 100_000])
def test_work_per_token_does_not_grow_with_the_answer(length: int) -> None:
    stream = TextStream(["</end>"])
    for _ in range(length):
        assert stream.push(b"x").text == "x"
    assert len(stream._stops._held) == 0  # nothing of the answer is kept


@given(st.lists(st.integers(0, 9), max_size=12), st.integers(0, 60))
def test_lengths_are_cut_from_the_end_only(completed: list[int], shown: int) -> None:
    shown = min(shown, sum(completed))
    lengths = shown_lengths(completed, shown)
    assert len(lengths) == len(completed)
    assert sum(lengths) == shown
    cut = [length < count for length, count in zip(lengths, completed, strict=True)]
    first = cut.index(True) if True in cut else len(cut)
    assert not any(lengths[first + 1 :])


# --------------------------------------------------------------------------------------------- a text that goes on


def shown(stream: TextStream, pieces: list[bytes]) -> str:
    """All text of an answer of these tokens, up to a stop string."""
    text = ""
    for data in pieces:
        piece = stream.push(data)
        text += piece.text
        if piece.stopped:
            return text
    return text + stream.finish()


@given(
    st.lists(st.sampled_from([b"a", b"b", b"ab", b"ba", b"aab", "é".encode(), b"\xf0\x9f", b"\x98\x80"]), max_size=14),
    st.lists(st.sampled_from(["ab", "bab", "aaba", "éa", "😀b", "abba"]), max_size=3),
    st.integers(0, 14),
)
def test_a_text_stopped_anywhere_goes_on_as_if_it_never_had(pieces: list[bytes], stops: list[str], place: int) -> None:
    whole = shown(TextStream(stops), pieces)
    old, new = pieces[:place], pieces[place:]
    first = TextStream(stops)
    before = shown(first, old)
    if first.match is not None:
        return  # it ended by itself: there is nothing to continue
    stream = TextStream(stops)
    assert not stream.behind(old)
    after = shown(stream, new)
    retracted = max(0, -stream.match.start) if stream.match else 0
    assert before[: len(before) - retracted] + after == whole


def test_a_stop_string_that_began_before_starts_at_a_negative_place() -> None:
    stream = TextStream(["beta"])
    assert not stream.behind([b"alpha ", b"be"])
    assert stream.push(b"t").text == ""
    assert stream.push(b"a!").stopped
    assert stream.match == StopMatch("beta", -2)


def test_a_stop_string_in_what_stands_there_is_told_only_of_the_last_token() -> None:
    assert TextStream(["b"]).behind([b"a", b"b!"])
    stream = TextStream(["b"])
    assert not stream.behind([b"b", b"a"])
    assert stream.push(b"c").text == "c"
