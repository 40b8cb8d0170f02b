"""Templates of bundles: what a prompt needs works, everything else is refused before a run."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from biasfw import DataError, templates
from biasfw.templates import compile_template

FIELDS: dict[str, Any] = {
    "topic": "tea",
    "focus": ["one", "two", "three"],
    "header": {"modern": "MODERN", "items": "ITEMS", "keys": "KEYS"},
    "number": 3,
    "nothing": None,
    "flag": True,
    "many": ["x"] * 1000,
    "long": "a" * 1000,
}


def render(text: str, **fields: Any) -> str:
    return compile_template(text, "W").render({**FIELDS, **fields})


def complaint(text: str, **fields: Any) -> str:
    with pytest.raises(DataError) as caught:
        render(text, **fields)
    message = str(caught.value)
    assert message.startswith("W: ")
    assert len(message.splitlines()) == 1
    return message


@pytest.mark.parametrize(
    ("text", "rendered"),
    [
        ("no field", "no field"),
        ("{{ topic }}\n", "tea\n"),
        ("\n  {{ topic }}\n\n", "\n  tea\n\n"),
        ("{{ header.modern }}: {{ focus[0] }}", "MODERN: one"),
        ("{{ header['modern'] }}{{ header.items }}{{ header.keys }}", "MODERNITEMSKEYS"),
        ("{% for each in focus %}{{ loop.index }}. {{ each }}\n{% endfor %}", "1. one\n2. two\n3. three\n"),
        (
            "{% for each in focus if each != 'one' %}{{ each }}{% if not loop.last %}, {% endif %}{% endfor %}",
            "two, three",
        ),
        ("{% for each in empty %}{{ each }}{% else %}none{% endfor %}", "none"),
        ("{% if topic == 'tea' and number > 2 %}yes{% elif flag %}so{% else %}no{% endif %}", "yes"),
        ("{% if 'two' in focus and 'four' not in focus or not flag %}in{% endif %}", "in"),
        ("{% if topic in ['tea', 'coffee'] %}drink{% endif %}", "drink"),
        ("{% if nothing %}x{% endif %}", ""),
        ("{{ focus | join(', ') | replace('two', '2') }}, {{ focus | length }}{{ ' x ' | trim }}", "one, 2, three, 3x"),
        ("{# a note #}{% raw %}{{ topic }}{% endraw %}", "{{ topic }}"),
        ("{Demographic List} {0} {{ '{{' }} 100 % $name", "{Demographic List} {0} {{ 100 % $name"),
    ],
)
def test_what_a_prompt_needs_works(text: str, rendered: str) -> None:
    assert render(text, empty=[]) == rendered


@pytest.mark.parametrize(
    "value",
    [
        "{Demographic List}",
        "{{ topic }}",
        "{% if %}",
        "{1; 2; 3} and {",
        "{} {0} {{kept}} %s $name",
        "<b>&amp;</b>",
        "\ud835\u2028",
    ],
)
def test_values_are_data(value: str) -> None:
    assert render("[{{ topic }}]", topic=value) == f"[{value}]"
    assert render("{% for each in focus %}{{ each }}{% endfor %}", focus=[value]) == value


@given(value=st.text(alphabet=st.characters(exclude_categories=())))
def test_no_value_is_ever_changed(value: str) -> None:
    assert render("{{ topic }}", topic=value) == value


def test_the_names_a_template_uses_are_known_before_it_is_rendered() -> None:
    text = "{{ a }}{{ b.c }}{% for each in d[0] %}{{ each }}{{ loop.index }}{% endfor %}{% if e in f %}{% endif %}"
    assert compile_template(text, "W").variables == {"a", "b", "d", "e", "f"}


@pytest.mark.parametrize(
    "text",
    [
        "{{ topic.__class__ }}",
        "{{ topic['__class__'] }}",
        "{{ ''.__class__.__mro__ }}",
        "{{ topic.upper() }}",
        "{{ header.items() }}",
        "{{ topic.format(number) }}",
        "{{ '%s' % topic }}",
        "{{ range(1000000000) }}",
        "{{ lipsum() }}",
        "{{ cycler }}",
        "{{ self }}",
        "{{ self._TemplateReference__context }}",
        "{{ _steps }}",
        "{{ loop }}",
        "{% for x in focus %}{{ loop }}{% endfor %}",
        "{% for x in focus %}{{ loop.cycle('a') }}{% endfor %}",
        "{% for x in focus %}{{ loop.changed }}{% endfor %}",
        "{% for x in focus recursive %}{{ loop(focus) }}{% endfor %}",
        "{{ 1 + 1 }}",
        "{{ 'a' * 1000000000 }}",
        "{{ 10 ** 1000000000 }}",
        "{{ -number }}",
        "{{ topic ~ topic }}",
        "{{ topic is defined }}",
        "{{ 'a' if flag else 'b' }}",
        "{{ focus[0:2] }}",
        "{{ focus[topic | length] }}",
        "{{ {'a': 1} }}",
        "{{ topic | upper }}",
        "{{ topic | attr('upper') }}",
        "{{ focus | map('upper') | join }}",
        "{{ topic | _each }}",
        "{{ topic | replace('a') }}",
        "{{ topic | replace('a', 'b', count=1) }}",
        "{{ focus | join(*focus) }}",
        "{% set x = 1 %}",
        "{% set x %}a{% endset %}",
        "{% macro m() %}{% endmacro %}",
        "{% call x() %}{% endcall %}",
        "{% filter trim %}{% endfilter %}",
        "{% include '/etc/passwd' %}",
        "{% import 'x' as y %}",
        "{% from 'x' import y %}",
        "{% extends 'x' %}",
        "{% block x %}{% endblock %}",
        "{% with x = 1 %}{% endwith %}",
        "{% autoescape true %}{% endautoescape %}",
        "{% do x %}",
        "{% for a, b in focus %}{% endfor %}",
        "{% for a in [1, 2] %}{% endfor %}",
        "{% for a in 'abc' %}{% endfor %}",
        "{% for loop in focus %}{% endfor %}",
    ],
)
def test_hostile_templates_are_refused(text: str) -> None:
    message = complaint("first line\n" + text)
    assert "W: line 2: " in message


@pytest.mark.parametrize(
    "text", ["{{ " + "(" * 5000, "{{ " + "a." * 20_000 + "b }}", "{% if flag %}" * 500 + "{% endif %}" * 500]
)
def test_deep_templates_are_refused(text: str) -> None:
    complaint(text)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("x\n{{ tpic }}", "line 2: 'tpic' is undefined; the names here are flag, focus, "),
        ("{{ tpic.x }}", "line 1: 'tpic' is undefined"),
        ("{% if tpic %}{% endif %}", "'tpic' is undefined"),
        ("{% if topic == tpic %}{% endif %}", "'tpic' is undefined"),
        ("{% for x in tpic %}{% endfor %}", "'tpic' is undefined"),
        ("{{ tpic | trim }}", "'tpic' is undefined"),
        ("{{ tpic | length }}", "'tpic' is undefined"),
        ("\n\n{{ focus[7] }}", "line 3: a list has no entry 7"),
        ("{{ header.modrn }}", 'a mapping has no entry "modrn"'),
        ("{{ topic.upper }}", 'a text has no entry "upper"'),
        ("{{ focus.append }}", 'a list has no entry "append"'),
        ("{{ focus }}", "a list cannot be written into a prompt; pick an entry with [0] or write | join"),
        ("{{ header }}", "a mapping cannot be written into a prompt"),
        ("{{ nothing }}", "null cannot be written into a prompt"),
        ("{{ flag }}", "true cannot be written into a prompt"),
        ("{% for x in topic %}{% endfor %}", "a loop needs a list, not a text"),
        ("{{ topic | join }}", "join needs a list, not a text"),
        ("{{ number | length }}", "length needs a text or a list, not a number"),
        ("{% if number < topic %}{% endif %}", "compare values of one kind"),
        ("{{ topic | replace('', 'x') }}", "replace needs a text to look for"),
    ],
)
def test_what_cannot_be_written_is_named_with_its_line(text: str, what: str) -> None:
    assert what in complaint(text)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (
            "{% for a in many %}{% for b in many %}{% for c in many %}{% endfor %}{% endfor %}{% endfor %}",
            "10000 rounds",
        ),
        ("{% for a in many %}{% for b in focus %}" + "y" * 1000 + "{% endfor %}{% endfor %}", "longer than 1 MiB"),
        ("{% for a in many %}{{ long }}{{ long }}{% endfor %}", "longer than 1 MiB"),
        ("{{ long" + " | replace('a', long)" * 6 + " }}", "a text grows beyond 1 MiB"),
        ("{{ many | join(long) | replace('x', long) }}", "a text grows beyond 1 MiB"),
        ("x" * (2**20 + 1), "the template is longer than 1 MiB"),
    ],
)
def test_growth_is_stopped_early(text: str, what: str) -> None:
    assert what in complaint(text)


def test_just_as_long_as_allowed_is_rendered() -> None:
    assert len(render("{{ long }}", long="a" * templates.SIZE_LIMIT)) == templates.SIZE_LIMIT
    assert (
        len(render("{% for a in many %}{% for b in ten %}.{% endfor %}{% endfor %}", many=[0] * 900, ten=[0] * 10))
        == 9000
    )


def test_a_mistake_of_syntax_has_its_line() -> None:
    assert complaint("a\nb\n{{ topic").startswith("W: line 3: unexpected end of template")
    assert complaint("a\n{% for x in focus %}\n").startswith("W: line 2: Unexpected end of template")


TAGS = ["{{ ", "}}", "{% if ", "{% for x in ", "{% endif %}", "{% endfor %}", " %}", "{#"]
WORDS = ["topic", "focus", "x", "loop.index", " in ", "==", "(", ")", "not ", "_", "1", "~", "self", "[0]", ".k"]
FILTERS = ["|join", "|replace('a','b')", "|length", "\n"]


@given(st.lists(st.sampled_from(TAGS + WORDS + FILTERS), max_size=12).map("".join))
def test_whatever_comes_is_rendered_or_one_line(text: str) -> None:
    try:
        assert isinstance(render(text), str)
    except DataError as error:
        assert str(error).startswith("W: ")  # noqa: PT017
        assert len(str(error).splitlines()) == 1  # noqa: PT017
