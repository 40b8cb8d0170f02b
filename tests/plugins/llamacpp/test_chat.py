from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from biasfw import Message
from biasfw_plugins.llamacpp.chat import ChatTemplate, ChatTemplateError

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


def test_a_system_message_stands_where_the_template_puts_it() -> None:
    template = ChatTemplate(PLAIN)
    assert not template.folds_system
    assert template.render(ASKED) == "[system]Be brief.\n[user]Why?\n[assistant]"


@pytest.mark.parametrize("source", [REFUSES_SYSTEM, DROPS_SYSTEM, USER_ONLY])
def test_a_refused_or_dropped_system_message_goes_into_the_first_user_turn(source: str) -> None:
    template = ChatTemplate(source)
    assert template.folds_system
    rendered = template.render([*ASKED, Message("assistant", "Because."), Message("user", "And?")])
    assert rendered.count("Be brief.") == 1
    assert "[user]Be brief.\n\nWhy?" in rendered
    assert "[assistant]Because." in rendered
    assert rendered.endswith("[assistant]")


def test_a_system_message_alone_becomes_a_user_turn() -> None:
    assert ChatTemplate(DROPS_SYSTEM).render([Message("system", "Go.")]) == "[user]Go.[assistant]"


@pytest.mark.parametrize(
    "source",
    [
        "{{ ''.__class__.__mro__[1].__subclasses__() }}",
        "{{ messages.append(1) }}",
        "{{ cycler.__init__.__globals__.os.getcwd() }}",
        "{% for m in messages %}{{ m.content.format_map(m) }}{{ m.__class__.__base__ }}{% endfor %}{{ 1 / 0 }}",
        "{% include '/etc/hostname' %}",
        "{% for",
        "{{ nothing.at.all }}",
        "{{ messages['x' * 3] | int(1, 2, 3, 4, 5) }}",
        "no message at all",
        "{{ raise_exception('never') }}",
    ],
)
def test_a_hostile_or_broken_template_is_a_failure_of_one_line(source: str) -> None:
    with pytest.raises(ChatTemplateError) as caught:
        ChatTemplate(source)
    assert str(caught.value)
    assert "\n" not in str(caught.value)


def test_tokens_json_loops_and_generation_marks() -> None:
    source = (
        "{{ bos_token }}{% for m in messages %}{% generation %}{{ m.content | tojson }}{% endgeneration %}"
        "{% break %}{% endfor %}{{ eos_token }}"
    )
    assert ChatTemplate(source, bos="<s>", eos="</s>").render([Message("user", "ü<&")]) == '<s>"ü<&"</s>'


def test_a_date_does_not_change_from_day_to_day() -> None:
    template = ChatTemplate("{{ strftime_now('%d %b %Y') }} {{ strftime_now('%A') }}: {{ messages[-1].content }}")
    assert template.writes_date
    assert template.render([Message("user", "Hi")]) == "26 Jul 2024 2024-07-26: Hi"
    assert not ChatTemplate(PLAIN).writes_date


@pytest.mark.parametrize("source", [PLAIN, TRIMS, REFUSES_SYSTEM])
@given(system=texts, user=texts)
def test_parts_join_to_the_rendered_prompt(source: str, system: str, user: str) -> None:
    template = ChatTemplate(source)
    messages = [Message("system", system), Message("user", user)]
    parts = template.split(messages)
    if parts is None:  # only where trimming removed something on one side alone
        assert source == TRIMS
        return
    assert "".join(text for text, _ in parts) == template.render(messages)
    assert [text.strip() for text, said in parts if said] == [system.strip(), user.strip()]


def test_a_template_that_changes_what_is_said_cannot_be_split() -> None:
    assert ChatTemplate(SHOUTS).split([Message("user", "quiet")]) is None
