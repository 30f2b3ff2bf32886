"""Prompt lookup: the most recent longest match, within the answer's own branch."""

from hypothesis import given, settings
from hypothesis import strategies as st

from engine.drafters.lookup import DIVIDED, LENGTHS, SEEN_ONCE, UNANIMOUS, LookupDrafter, grade


def proposals(history: list[int], limit: int = 4) -> list[int]:
    drafter = LookupDrafter()
    drafter.begin(history)
    return list(drafter.draft(history, limit).tokens)


def test_it_continues_what_followed_last_time() -> None:
    assert proposals([1, 2, 3, 4, 5, 9, 1, 2, 3], 2) == [4, 5]


def test_the_longer_match_wins_over_the_more_recent_one() -> None:
    assert proposals([1, 2, 3, 7, 8, 2, 3, 9, 8, 1, 2, 3], 1) == [7]


def test_the_more_recent_of_equal_matches_wins() -> None:
    assert proposals([1, 2, 7, 0, 1, 2, 8, 0, 1, 2], 1) == [8]


def test_without_a_match_it_says_nothing() -> None:
    assert proposals([1, 2, 3, 4, 5]) == []
    assert proposals([]) == []
    assert proposals([1]) == []


def test_a_single_repeated_token_is_no_match() -> None:
    assert proposals([1, 5, 2, 5]) == []


def test_a_cycle_is_continued_at_full_length() -> None:
    assert proposals([1, 2, 3, 1, 2, 3, 1, 2], 7) == [3, 1, 2, 3, 1, 2, 3]
    assert proposals([5, 5, 5], 4) == [5, 5, 5, 5]


@given(st.lists(st.integers(0, 3), max_size=60), st.integers(1, 10))
@settings(max_examples=200, deadline=None)
def test_it_agrees_with_a_search_from_the_back(history: list[int], limit: int) -> None:
    def searched() -> list[int]:
        for length in LENGTHS:
            suffix = history[len(history) - length :]
            for start in range(len(history) - length - 1, -1, -1):
                if len(suffix) == length and history[start : start + length] == suffix:
                    out: list[int] = []
                    text = list(history)
                    for place in range(start + length, start + length + limit):
                        out.append(text[place])
                        text.append(text[place])
                    return out
        return []

    assert proposals(history, limit) == searched()


@given(st.lists(st.integers(0, 3), max_size=40), st.integers(0, 40))
@settings(max_examples=100, deadline=None)
def test_feeding_it_piece_by_piece_changes_nothing(history: list[int], cut: int) -> None:
    drafter = LookupDrafter()
    drafter.begin(history[:cut])
    for end in range(cut, len(history) + 1):
        last = list(drafter.draft(history[:end], 4).tokens)
    if cut <= len(history):
        assert last == proposals(history, 4)


def test_a_regenerated_answer_is_not_looked_up_from_its_sibling() -> None:
    prompt, answer = [1, 2, 3, 4], [10, 11, 12, 13]
    drafter = LookupDrafter()
    drafter.begin(prompt)
    drafter.draft(prompt + answer, 4)
    drafter.begin(prompt)
    assert list(drafter.draft([*prompt, 10, 11], 4).tokens) == []


def test_the_next_turn_may_use_the_answers_above_it() -> None:
    drafter = LookupDrafter()
    drafter.begin([1, 2])
    drafter.draft([1, 2, 10, 11, 12], 4)
    drafter.begin([1, 2, 10, 11, 12, 5])
    assert list(drafter.draft([1, 2, 10, 11, 12, 5, 10, 11], 2).tokens) == [12, 5]


def grades(history: list[int], limit: int) -> list[float]:
    drafter = LookupDrafter()
    drafter.begin(history)
    return list(drafter.draft(history, limit).confidence)


def test_a_text_that_stood_once_is_trusted_by_the_length_of_the_match() -> None:
    assert grades([1, 2, 3, 4, 5, 6, 9, 1, 2, 3], 3) == [grade(3, SEEN_ONCE), grade(4, SEEN_ONCE), grade(5, SEEN_ONCE)]


def test_what_always_went_on_alike_is_trusted_more_and_what_did_not_is_trusted_less() -> None:
    alike = [1, 2, 3, 4, 7, 1, 2, 3, 4, 8, 1, 2, 3]
    assert grades(alike, 2) == [grade(3, UNANIMOUS), grade(4, DIVIDED)]
    once_otherwise = [1, 2, 3, 5, 7, 1, 2, 3, 4, 8, 1, 2, 3, 4, 9, 1, 2, 3]
    assert grades(once_otherwise, 1) == [grade(3, DIVIDED)]


def test_a_match_of_two_is_judged_by_these_two() -> None:
    assert grades([1, 2, 7, 0, 1, 2, 8, 0, 9, 1, 2], 1) == [grade(2, DIVIDED)]


def test_a_proposal_from_a_cycle_grows_surer() -> None:
    found = grades([5, 6, 7] * 3, 6)
    assert found == sorted(found)
    assert found[0] >= grade(6, UNANIMOUS)


@given(st.lists(st.integers(0, 3), min_size=3, max_size=60), st.integers(1, 6))
@settings(max_examples=200, deadline=None)
def test_the_grade_says_how_the_text_went_on_before(history: list[int], limit: int) -> None:
    drafter = LookupDrafter()
    drafter.begin(history)
    draft = drafter.draft(history, limit)
    text, classes = list(history), grade(0, SEEN_ONCE)
    for token, confidence in zip(draft.tokens, draft.confidence, strict=True):
        agreement, length_class = divmod(int(confidence), classes)
        judged = 2 if length_class == 0 else 3
        key = text[-judged:]
        behind = {}
        for i in range(judged, len(history)):
            if history[i - judged : i] == key:
                behind[i] = history[i]
        expected = SEEN_ONCE if len(behind) < 2 else UNANIMOUS if len(set(behind.values())) == 1 else DIVIDED
        assert agreement == expected
        text.append(token)
