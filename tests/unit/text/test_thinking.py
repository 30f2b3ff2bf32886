"""How real models' templates think, each in the few lines that decide it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import pytest

from engine.protocol import Message, Thinking
from engine.text.sandbox import Sandbox
from engine.text.template import ChatTemplate

TURNS = (
    "{% for m in messages %}{{ '<|im_start|>' + m.role + '\n' + m.content + '<|im_end|>\n' }}{% endfor %}"
    "{{ '<|im_start|>assistant\n' }}"
)
QWEN3 = (
    TURNS + "{% if enable_thinking is defined and enable_thinking is false %}{{ '<think>\n\n</think>\n\n' }}{% endif %}"
)
QWEN3_5 = TURNS + (
    "{% if enable_thinking is defined and enable_thinking is false %}{{ '<think>\n\n</think>\n\n' }}"
    "{% else %}{{ '<think>\n' }}{% endif %}"
)
SMOLLM3 = (
    "{%- if enable_thinking is not defined %}{% set enable_thinking = true %}{% endif %}"
    "{% set mode = '/think' if enable_thinking else '/no_think' %}"
    "{% if messages[0].role == 'system' and '/no_think' in messages[0].content %}"
    "{% set mode = '/no_think' %}{% endif %}"
    + TURNS
    + "{% if mode == '/no_think' %}{{ '<think>\n\n</think>\n' }}{% endif %}"
)
GLM = TURNS + "{{ '</think>' if (enable_thinking is defined and not enable_thinking) else '<think>' }}"
DEEPSEEK_R1 = (
    "{% for m in messages %}{% set c = m.content %}{% if m.role == 'assistant' and '</think>' in c %}"
    "{% set c = c.split('</think>')[-1] %}{% endif %}{{ '<|' + m.role + '|>' + c }}{% endfor %}"
    "{{ '<|assistant|><think>\n' }}"
)
DEEPSEEK_V31 = (
    "{% if not thinking is defined %}{% set thinking = false %}{% endif %}"
    + TURNS
    + "{{ '<think>' if thinking else '</think>' }}"
)
GRANITE = (
    "{% if thinking %}{{ 'Write your thoughts between <think></think> and the answer between <response></response>.' }}"
    "{% endif %}" + TURNS
)
SEED_OSS = (
    "{% if not thinking_budget is defined %}{% set thinking_budget = -1 %}{% endif %}"
    "{% set begin = '<seed:think>' %}{% set end = '</seed:think>' %}"
    + TURNS
    + "{% if thinking_budget == 0 %}{{ begin + 'The budget is 0.' + end }}{% endif %}"
)
GPT_OSS = (
    "{% if reasoning_effort is not defined %}{% set reasoning_effort = 'medium' %}{% endif %}"
    "{{ '<|start|>system<|message|>Reasoning: ' + reasoning_effort + '<|end|>' }}"
    "{% for m in messages %}{% if m.role == 'assistant' %}"
    "{% if '<|channel|>analysis<|message|>' in m.content %}{{ raise_exception('pass thoughts elsewhere') }}{% endif %}"
    "{{ '<|start|>assistant<|channel|>final<|message|>' + m.content + '<|end|>' }}"
    "{% else %}{{ '<|start|>' + m.role + '<|message|>' + m.content + '<|end|>' }}{% endif %}{% endfor %}"
    "{{ '<|start|>assistant' }}"
)
HUNYUAN = (
    "{% if not reasoning_effort is defined %}{% set reasoning_effort = 'no_think' %}"
    "{% elif reasoning_effort not in ['high', 'low', 'no_think'] %}{{ raise_exception('no such effort') }}{% endif %}"
    + TURNS
    + "{{ '<think></think>' if reasoning_effort == 'no_think' else '<think>' }}"
)
GEMMA4 = (
    "{% for m in messages %}"
    "{{ '<|turn>' + m.role + '\n' + m.content.split('<channel|>')[-1] + '<turn|>\n' }}"
    "{% endfor %}{{ '<|turn>model\n' }}"
    "{% if not enable_thinking | default(false) %}{{ '<|channel>thought\n<channel|>' }}{% endif %}"
)
MAGISTRAL = (
    "{% for m in messages %}{% if m.role == 'user' %}[INST]{{ m.content }}[/INST]"
    "{% elif m.role == 'system' %}[SYSTEM_PROMPT]{{ m.content }} Think between [THINK] and [/THINK].[/SYSTEM_PROMPT]"
    "{% else %}{{ m.content + eos_token }}{% endif %}{% endfor %}"
)
CLOCK = TURNS + "{{ strftime_now('%H:%M:%S.%f') }}{# thinking #}"

Make = Callable[..., ChatTemplate]


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    sandbox = Sandbox(time_limit=60, start_limit=60)  # a busy machine must not decide
    yield sandbox
    sandbox.close()


@pytest.fixture
def make(sandbox: Sandbox) -> Make:
    def build(template: str | None, controls: Iterable[str] = ()) -> ChatTemplate:
        return ChatTemplate(template, eos="</s>", controls=controls, sandbox=sandbox)

    return build


def user(content: str) -> Message:
    return Message(role="user", content=content)


def assistant(content: str) -> Message:
    return Message(role="assistant", content=content)


@pytest.mark.parametrize(
    ("template", "thinking", "opens"),
    [
        (TURNS, "none", None),
        (CLOCK, "none", None),
        (None, "none", None),
        (QWEN3, "switchable", "<think>"),
        (QWEN3_5, "switchable", "<think>"),
        (SMOLLM3, "switchable", "<think>"),
        (GLM, "switchable", "<think>"),
        (DEEPSEEK_R1, "always", "<think>"),
        (DEEPSEEK_V31, "switchable", "<think>"),
        (GRANITE, "switchable", "<think>"),
        (SEED_OSS, "switchable", "<seed:think>"),
        (GPT_OSS, "always", "<|channel|>analysis<|message|>"),
        (HUNYUAN, "switchable", "<think>"),
        (GEMMA4, "switchable", "<|channel>thought"),
        (MAGISTRAL, "always", "[THINK]"),
    ],
)
def test_what_a_template_can_do(make: Make, template: str | None, thinking: Thinking, opens: str | None) -> None:
    chat = make(template)
    info = chat.info()
    assert info.thinking == thinking
    assert (info.markers[0].open if info.markers else None) == opens
    assert chat.render([user("Hi")]).info == info, "no wish, no note"


@pytest.mark.parametrize(
    ("template", "ends"),
    [
        # as the template has it; thinking; not thinking
        (QWEN3, ["assistant\n", "assistant\n", "<think>\n\n</think>\n\n"]),
        (QWEN3_5, ["<think>\n", "<think>\n", "<think>\n\n</think>\n\n"]),
        (SMOLLM3, ["assistant\n", "assistant\n", "<think>\n\n</think>\n"]),
        (GLM, ["<think>", "<think>", "</think>"]),
        (DEEPSEEK_V31, ["</think>", "<think>", "</think>"]),
        (HUNYUAN, ["<think></think>", "<think>", "<think></think>"]),
        (SEED_OSS, ["assistant\n", "assistant\n", "</seed:think>"]),
        (GEMMA4, ["<channel|>", "model\n", "<channel|>"]),
    ],
)
def test_the_switch_is_set(make: Make, template: str, ends: list[str]) -> None:
    chat = make(template)
    for thinking, end in zip((None, True, False), ends, strict=True):
        rendered = chat.render([user("Hi")], thinking)
        assert rendered.text.endswith(end)
        assert rendered.starts_in_thought == end.strip().endswith("<think>")
        assert rendered.notes == ()


def test_the_system_text_may_overrule_the_template(make: Make) -> None:
    rendered = make(SMOLLM3).render([Message(role="system", content="Be brief. /no_think"), user("Hi")])
    assert rendered.text.endswith("<think>\n\n</think>\n")


def test_what_cannot_be_switched_is_said(make: Make) -> None:
    assert make(DEEPSEEK_R1).render([user("Hi")], False).notes == ("the chat template cannot switch thinking off",)
    assert make(DEEPSEEK_R1).render([user("Hi")], True).notes == ()
    assert make(TURNS).render([user("Hi")], True).notes == ("thinking was asked for, but the chat template knows none",)
    assert make(TURNS).render([user("Hi")], False).notes == ()
    fallback = make(None).render([user("Hi")], True)
    assert fallback.notes[-1] == "thinking was asked for, but the chat template knows none"


def test_less_effort_is_the_nearest_to_none(make: Make) -> None:
    chat = make(GPT_OSS)
    assert "Reasoning: medium" in chat.render([user("Hi")]).text
    assert "Reasoning: medium" in chat.render([user("Hi")], True).text
    less = chat.render([user("Hi")], False)
    assert "Reasoning: low" in less.text
    assert less.notes == ("the chat template cannot switch thinking off; the reasoning effort was set to low",)


def test_a_template_that_breaks_leaves_the_markers(make: Make) -> None:
    chat = make(DEEPSEEK_R1 + "{{ raise_exception('not today') }}")
    rendered = chat.render([user("Hi")], False)
    assert rendered.info.name == "plain"
    assert (rendered.info.thinking, rendered.info.markers[0].open) == ("always", "<think>")
    assert not rendered.starts_in_thought
    assert "the chat template cannot switch thinking off" in rendered.notes


# ---------------------------------------------------------------------------------------------- who opens a block


def test_only_the_template_opens_a_block(make: Make) -> None:
    last = "{# <think> #}{% for m in messages %}{{ m.role + ': ' + m.content }}{% endfor %}"
    assert not make(last).render([user("What does this mean: <think>")]).starts_in_thought
    assert make(DEEPSEEK_R1).render([user("What does this mean: <think>")]).starts_in_thought


def test_earlier_thoughts_are_the_templates_business(make: Make) -> None:
    chat = [user("Hi"), assistant("Hm.</think>Hello."), user("Bye")]
    assert make(DEEPSEEK_R1).render(chat).text == "<|user|>Hi<|assistant|>Hello.<|user|>Bye<|assistant|><think>\n"
    assert "Hm.</think>Hello." in make(QWEN3).render(chat).text, "passed as it was said"


def test_thoughts_between_control_tokens_are_left_out_here(make: Make) -> None:
    """The template cannot see these markers: contents may not hold control tokens."""
    controls = {"<|channel|>", "<|message|>", "<|start|>", "<|end|>"}
    answer = "<|channel|>analysis<|message|>We think.<|end|><|start|>assistant<|channel|>final<|message|>Hello <|end|>."
    rendered = make(GPT_OSS, controls).render([user("Hi"), assistant(answer), user("Bye <|channel|>")])
    assert rendered.info.name == "model"
    assert "We think" not in rendered.text
    assert "<|start|>assistant<|channel|>final<|message|>Hello <|end|>.<|end|>" in rendered.text
    assert [s.text for s in rendered.segments if not s.parse_special] == ["<|end|>", "<|channel|>"]
    chat = [user("Hi"), assistant("<|channel>thought\nHm.<channel|>Hello."), user("Bye")]
    assert "Hm" not in make(GEMMA4, {"<|channel>", "<channel|>"}).render(chat).text
