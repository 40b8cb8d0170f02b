from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from biasfw import Message

pytest.importorskip("biasfw_plugins.hf.runtime", reason="needs the extra hf")

from biasfw_plugins.hf.chat import ChatTemplate, ChatTemplateError
from biasfw_plugins.hf.runtime import transformers
from biasfw_plugins.hf.tokens import Tokeniser

pytestmark = pytest.mark.model

PLAIN = (
    "{% for m in messages %}[{{ m.role }}]{{ m.content }}\n{% endfor %}"
    "{% if add_generation_prompt %}[assistant]{% endif %}"
)
TRIMS = "{% for m in messages %}<{{ m.role }}>{{ m.content | trim }}</{{ m.role }}>{% endfor %}<assistant>"
SHOUTS = "{% for m in messages %}{{ m.content | upper }}{{ m.content }}{% endfor %}"
REFUSES_SYSTEM = (
    "{% if messages[0].role == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}" + PLAIN
)
DROPS_SYSTEM = "{% for m in messages if m.role != 'system' %}[{{ m.role }}]{{ m.content }}{% endfor %}[assistant]"
USER_ONLY = "{% if messages[0].role != 'user' %}{{ raise_exception('must start with user') }}{% endif %}" + PLAIN

ASKED = (Message("system", "Be brief."), Message("user", "Why?"))
texts = st.text(st.characters(codec="utf-8"), max_size=30)


@pytest.fixture
def tokeniser(tiny: Callable[..., Path]) -> Tokeniser:
    return Tokeniser(transformers.AutoTokenizer.from_pretrained(tiny()))


def test_a_system_message_stands_where_the_template_puts_it(tokeniser: Tokeniser) -> None:
    template = ChatTemplate(tokeniser, PLAIN)
    assert not template.folds_system
    assert template.render(ASKED) == "[system]Be brief.\n[user]Why?\n[assistant]"


@pytest.mark.parametrize("source", [REFUSES_SYSTEM, DROPS_SYSTEM, USER_ONLY])
def test_a_refused_or_dropped_system_message_goes_into_the_first_user_turn(tokeniser: Tokeniser, source: str) -> None:
    template = ChatTemplate(tokeniser, source)
    assert template.folds_system
    rendered = template.render([*ASKED, Message("assistant", "Because."), Message("user", "And?")])
    assert rendered.count("Be brief.") == 1
    assert "[user]Be brief.\n\nWhy?" in rendered
    assert "[assistant]Because." in rendered
    assert rendered.endswith("[assistant]")


def test_a_system_message_alone_becomes_a_user_turn(tokeniser: Tokeniser) -> None:
    assert ChatTemplate(tokeniser, DROPS_SYSTEM).render([Message("system", "Go.")]) == "[user]Go.[assistant]"


@pytest.mark.parametrize(
    "source",
    [
        "{{ ''.__class__.__mro__[1].__subclasses__() }}",
        "{{ messages.append(1) }}",
        "{{ cycler.__init__.__globals__.os.getcwd() }}",
        "{% for m in messages %}{{ m.content }}{{ m.__class__.__base__.__subclasses__() }}{% endfor %}",
        "{% for m in messages %}{{ m.content }}{% endfor %}{{ 1 / 0 }}",
        "{% include '/etc/hostname' %}",
        "{% for",
        "{{ nothing.at.all }}",
        "{{ messages['x' * 3] | int(1, 2, 3, 4, 5) }}",
        "no message at all",
        "{{ raise_exception('never') }}",
    ],
)
def test_a_hostile_or_broken_template_is_a_failure_of_one_line(tokeniser: Tokeniser, source: str) -> None:
    with pytest.raises(ChatTemplateError) as caught:
        ChatTemplate(tokeniser, source)
    assert str(caught.value)
    assert "\n" not in str(caught.value)


def test_tokens_json_loops_and_generation_marks(tokeniser: Tokeniser) -> None:
    source = (
        "{{ bos_token }}{% for m in messages %}{% generation %}{{ m.content | tojson }}{% endgeneration %}"
        "{% break %}{% endfor %}{{ eos_token }}"
    )
    assert ChatTemplate(tokeniser, source).render([Message("user", "ü<&")]) == '<s>"ü<&"</s>'


def test_a_date_does_not_change_from_day_to_day(tokeniser: Tokeniser) -> None:
    source = (
        "\n{% if strftime_now is defined %}{{ strftime_now('%d %b %Y') }} {{ strftime_now('%A') }}{% endif %}"
        "{{ strftime_now('%d %B %Y') }}: {{ messages[-1].content }}"
    )
    template = ChatTemplate(tokeniser, source)
    assert template.writes_date
    assert template.render([Message("user", "Hi")]) == "\n26 Jul 2024 2024-07-2626 July 2024: Hi"
    assert not ChatTemplate(tokeniser, PLAIN).writes_date


def test_the_switch_for_thinking(tokeniser: Tokeniser) -> None:
    source = PLAIN + "{% if enable_thinking is defined %}{{ enable_thinking }}{% endif %}"
    said = [ChatTemplate(tokeniser, source, thinking).render(ASKED[1:]) for thinking in (None, True, False)]
    assert [text.rpartition("]")[2] for text in said] == ["", "True", "False"]
    assert ChatTemplate(tokeniser, source).knows_thinking
    assert not ChatTemplate(tokeniser, PLAIN).knows_thinking


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@pytest.mark.parametrize("source", [PLAIN, TRIMS, REFUSES_SYSTEM])
@given(system=texts, user=texts)
def test_parts_join_to_the_rendered_prompt(tokeniser: Tokeniser, source: str, system: str, user: str) -> None:
    template = ChatTemplate(tokeniser, source)
    messages = [Message("system", system), Message("user", user)]
    parts = template.split(messages)
    if parts is None:  # only where trimming removed something on one side alone
        assert source == TRIMS
        return
    assert "".join(text for text, _ in parts) == template.render(messages)
    assert [text.strip() for text, said in parts if said] == [system.strip(), user.strip()]


def test_a_template_that_changes_what_is_said_cannot_be_split(tokeniser: Tokeniser) -> None:
    assert ChatTemplate(tokeniser, SHOUTS).split([Message("user", "quiet")]) is None


@pytest.mark.parametrize(
    ("end", "found"),
    [("<|im_end|>\n", True), (" <|im_end|>", True), ("\n", False), ("", False), ("x<|im_end|>", False)],
)
def test_the_token_that_ends_a_turn(tokeniser: Tokeniser, end: str, found: bool) -> None:
    source = "{% for m in messages %}[{{ m.role }}]{{ m.content }}" + end + "{% endfor %}[assistant]"
    (number,) = tokeniser.encode("<|im_end|>", special=True)
    assert ChatTemplate(tokeniser, source).turn_end() == (number if found else None)


def test_a_template_without_assistant_turns_names_no_end(tokeniser: Tokeniser) -> None:
    source = "{% for m in messages %}{% if m.role == 'assistant' %}{{ raise_exception('no') }}{% endif %}" + (
        "{{ m.content }}{% endfor %}"
    )
    assert ChatTemplate(tokeniser, source).turn_end() is None
