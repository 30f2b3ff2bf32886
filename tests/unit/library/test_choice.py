"""Which files of a repository are one model."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from app.library.choice import choose, is_model, quant_of
from app.library.hub_errors import HubError

REPO = "owner/Some-GGUF"


@dataclass(frozen=True)
class Listed:
    path: str


def chosen(*paths: str, quant: str | None = None, pattern: str | None = None) -> list[str]:
    return [file.path for file in choose(REPO, [Listed(path) for path in paths], quant=quant, pattern=pattern)]


def refused(*paths: str, quant: str | None = None, pattern: str | None = None) -> tuple[str, str]:
    with pytest.raises(HubError) as error:
        chosen(*paths, quant=quant, pattern=pattern)
    return error.value.code, str(error.value)


@pytest.mark.parametrize(
    ("path", "quant"),
    [
        ("Qwen3-4B-Q4_K_M.gguf", "Q4_K_M"),
        ("qwen2.5-coder-7b-instruct-q4_k_m.gguf", "Q4_K_M"),
        ("SmolLM2-135M-Instruct.Q4_1.gguf", "Q4_1"),
        ("x-UD-Q4_K_XL.gguf", "UD-Q4_K_XL"),
        ("x-IQ2_XXS-00001-of-00003.gguf", "IQ2_XXS"),
        ("gpt-oss-20b-mxfp4.gguf", "MXFP4"),
        ("BF16/x-BF16.gguf", "BF16"),
        ("smollm2-1.7b-instruct.gguf", None),
        ("model.gguf", None),
    ],
)
def test_the_quantization_in_a_name(path: str, quant: str | None) -> None:
    assert quant_of(path) == quant


def test_without_a_wish_the_usual_quantizations_come_first() -> None:
    assert chosen("x-Q2_K.gguf", "x-Q4_K_M.gguf", "x-Q8_0.gguf") == ["x-Q4_K_M.gguf"]
    assert chosen("x-Q2_K.gguf", "x-q8_0.gguf", "README.md") == ["x-q8_0.gguf"]
    assert chosen("README.md", "x-Q2_K.gguf", "x-Q3_K_S.gguf") == ["x-Q2_K.gguf"]
    assert chosen("model.gguf") == ["model.gguf"]


@pytest.mark.parametrize("quant", ["Q4_0", "q4_0"])
def test_a_quantization_in_any_case(quant: str) -> None:
    assert chosen("x-Q4_0_8_8.gguf", "x-IQ4_0.gguf", "x-q4_0.gguf", quant=quant) == ["x-q4_0.gguf"]


def test_a_tag_stands_at_the_end_and_is_whole() -> None:
    assert refused("Q8_0-x-Q4_0.gguf", quant="Q8_0") == ("file", f"{REPO} has no Q8_0; it has: Q4_0.")
    assert refused("x-IQ4_0.gguf", quant="Q4_0") == ("file", f"{REPO} has no Q4_0; it has: IQ4_0.")
    assert chosen("x-Q4_K_XL.gguf", "x-UD-Q4_K_XL.gguf", quant="UD-Q4_K_XL") == ["x-UD-Q4_K_XL.gguf"]


def test_sidecars_are_no_models() -> None:
    sidecars = ["mmproj-x-Q4_K_M.gguf", "x-imatrix.gguf", "mtp-x-Q8_0.gguf", "sub/eagle3-x-Q8_0.gguf", "dflash-x.gguf"]
    assert not any(is_model(path) for path in [*sidecars, "dspark-x.gguf", "x.gguf.part", "x.bin"])
    assert chosen(*sidecars, "x-Q2_K.gguf") == ["x-Q2_K.gguf"]
    assert refused(*sidecars) == (
        "file",
        f"{REPO} holds only files that accompany a model (projectors, matrices), and no model.",
    )


def test_a_file_that_goes_along_with_a_model_is_not_denied() -> None:
    files = ["mmproj-x-F16.gguf", "sub/x-imatrix.gguf", "x-Q2_K.gguf", "mmproj.bin"]
    for pattern, name in (("mmproj-X-F16.gguf", files[0]), ("x-imatrix.gguf", files[1]), ("sub/*", files[1])):
        words = f"{name} of {REPO} goes along with a model and is none itself; it has: Q2_K."
        assert refused(*files, pattern=pattern) == ("file", words)
    assert refused(*files, pattern="mmproj.bin") == ("file", f"{REPO} has no mmproj.bin; it has: Q2_K.")


def test_parts_are_one_model_in_their_order() -> None:
    parts = ["Q8_0/x-Q8_0-00002-of-00003.gguf", "Q8_0/x-Q8_0-00003-of-00003.gguf", "Q8_0/x-Q8_0-00001-of-00003.gguf"]
    whole = [parts[2], parts[0], parts[1]]
    assert chosen(*parts, quant="Q8_0") == whole
    assert chosen(*parts) == whole
    assert chosen(*parts, pattern=parts[1]) == whole
    assert chosen("y-Q8_0-00001-of-00002.gguf", *parts, pattern="x-*.gguf") == whole


def test_one_file_goes_before_parts_of_the_same() -> None:
    assert chosen("x-Q8_0-00001-of-00002.gguf", "x-Q8_0-00002-of-00002.gguf", "x-Q8_0.gguf") == ["x-Q8_0.gguf"]


@pytest.mark.parametrize("there", [("1", "3"), ("2", "3"), ("1",)])
def test_a_set_with_a_hole_is_no_model(there: tuple[str, ...]) -> None:
    code, words = refused(*(f"x-Q8_0-0000{number}-of-00003.gguf" for number in there), pattern="x-*")
    missing = {("1", "3"): "part 2", ("2", "3"): "part 1", ("1",): "parts 2 and 3"}[there]
    assert (code, words) == (
        "incomplete",
        f"x-Q8_0 of {REPO} is cut into 3 parts, and the hub lacks {missing}; choose another quantization.",
    )


def test_a_set_without_end_is_refused_at_once() -> None:
    code, words = refused("x-00001-of-99999.gguf")
    assert code == "incomplete"
    assert words.endswith("the hub lacks parts 2, 3, 4, 5, 6 and 99993 more; choose another quantization.")


def test_a_pattern_or_a_path_names_the_file() -> None:
    files = ["a-Q4_0.gguf", "a-Q8_0.gguf", "sub/b-Q4_0.gguf"]
    assert chosen(*files, pattern="A-q8_0.gguf") == ["a-Q8_0.gguf"]
    assert chosen(*files, pattern="sub/*") == ["sub/b-Q4_0.gguf"]
    assert chosen(*files, pattern="b-*.gguf") == ["sub/b-Q4_0.gguf"]
    assert chosen(*files, pattern="a-*.gguf", quant="Q8_0") == ["a-Q8_0.gguf"]
    assert chosen("odd[1]-Q4_0.gguf", pattern="odd[1]-Q4_0.gguf") == ["odd[1]-Q4_0.gguf"]
    assert refused(*files, pattern="a-*.gguf") == ("file", f"a-*.gguf is 2 models of {REPO}: it has: Q4_0, Q8_0.")
    assert refused(*files, pattern="c.gguf") == ("file", f"{REPO} has no c.gguf; it has: Q4_0, Q8_0.")


def test_no_model_at_all_says_where_they_are() -> None:
    assert refused("model.safetensors", "README.md") == (
        "file",
        f"{REPO} holds no GGUF file; models for this program are in repositories whose names end in -GGUF.",
    )


def test_a_long_offer_is_shortened() -> None:
    code, words = refused(*(f"x-Q{number}_0.gguf" for number in range(2, 18)), quant="F16")
    assert code == "file"
    assert words.startswith(f"{REPO} has no F16; it has: Q2_0, Q3_0, ")
    assert words.endswith("Q13_0 and 4 more.")
