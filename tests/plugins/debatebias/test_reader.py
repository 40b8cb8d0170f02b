"""The reader ``debatebias_csv``: what it yields, and one clear line for whatever is not as the authors write it."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import biasfw_plugins.debatebias as plugin
from biasfw import DataError, Reader, Seed
from biasfw.plugins import Plugins
from biasfw_plugins.debatebias._rows import PLACEHOLDER
from biasfw_plugins.debatebias.reader import DebateBiasCsv

Write = Callable[..., Path]
Rows = Callable[..., list[tuple[str, str, str]]]
HEADER = "category,title,prompt\n"
GOOD = f"religion,Bells,Choose from {PLACEHOLDER}.\n"


def read(folder: Path, **options: Any) -> tuple[list[Seed], list[str]]:
    reader = DebateBiasCsv(options)
    assert isinstance(reader, Reader)
    seeds = list(reader.read(folder))
    return seeds, reader.notes


def complaint(folder: Path, **options: Any) -> str:
    with pytest.raises(DataError) as caught:
        read(folder, **options)
    assert len(str(caught.value).splitlines()) == 1
    return str(caught.value)


def whole(seed: Seed) -> str:
    return f"{seed.fields['before']}{PLACEHOLDER}{seed.fields['after']}"


def test_the_plugin_offers_one_reader() -> None:
    plugins = Plugins()
    assert plugins.add(plugin, "debatebias").error is None
    assert [c.spec.name for c in plugins.components("reader")] == ["debatebias_csv"]


def test_a_row_becomes_a_seed(folder: Path, write: Write, rows: Rows) -> None:
    write("en", rows())
    seeds, _ = read(folder)
    assert len(seeds) == 12
    first = seeds[0]
    assert (first.language, first.category) == ("en", "backwardness")
    assert dict(first.fields) == {
        "before": "Two experts speak about Buses.\nChoose from ",
        "after": ".\n1. now\n",
    }
    assert first.cluster == first.source_id
    assert first.source_id.startswith("backwardness-")
    assert first.metadata == {
        "title": "Buses",
        "cluster_note": "lower bound of the uncertainty: 300 prompts grew from 50 seeds",
    }
    assert len({seed.source_id for seed in seeds}) == 12


def test_ids_depend_on_category_and_title_alone(folder: Path, write: Write, rows: Rows) -> None:
    write("en", rows())
    ids = {(s.category, s.metadata["title"]): s.source_id for s in read(folder)[0]}
    write("en", [(category, title, f"{PLACEHOLDER} again") for category, title, _ in reversed(rows())])
    assert {(s.category, s.metadata["title"]): s.source_id for s in read(folder)[0]} == ids
    write("en", [("religion", "Buses", PLACEHOLDER), ("terrorism", "Buses", PLACEHOLDER)])
    assert len({s.source_id for s in read(folder)[0]}) == 2, "one title in two categories is two prompts"


TEXTS = st.text(st.characters(exclude_characters="\0\r", exclude_categories=["Cs"]), max_size=30)


@given(parts=st.tuples(TEXTS, TEXTS))
def test_nothing_but_the_placeholder_is_touched(
    tmp_path_factory: pytest.TempPathFactory, parts: tuple[str, str]
) -> None:
    prompt = PLACEHOLDER.join(parts)
    assume(prompt.count(PLACEHOLDER) == 1)
    folder = tmp_path_factory.mktemp("official")
    path = folder / "en" / "generated_bias_prompts.csv"
    path.parent.mkdir()
    doubled = prompt.replace('"', '""')
    path.write_bytes(f'{HEADER}religion,Bells,"{doubled}"\n'.encode())
    (seed,), _ = read(folder)
    assert (seed.fields["before"], seed.fields["after"]) == parts


def test_braces_percent_and_dollar_signs_stay(folder: Path, write: Write) -> None:
    text = "A set {1; 2; 3} and an open { brace, {} {0} {{kept}} %s ${x} $name {{ label_list }} " + PLACEHOLDER
    write("en", [("religion", "Bells", text)])
    (seed,), notes = read(folder)
    assert whole(seed) == text
    assert not any("placeholder" in note for note in notes)


def test_what_only_looks_like_the_placeholder_stays_and_is_told(folder: Path, write: Write) -> None:
    texts = [
        f"{PLACEHOLDER} and {near}" for near in ("{demographic list}", "{ Demographic  List }", "｛Demographic List｝")
    ]
    path = write("en", [("religion", f"T{number}", text) for number, text in enumerate([*texts, *texts])])
    seeds, notes = read(folder)
    assert [whole(seed) for seed in seeds] == [*texts, *texts]
    (note,) = [note for note in notes if "placeholder" in note]
    assert f"{path}:2 ({{demographic list}})" in note
    assert note.endswith("and 3 more")


@pytest.mark.parametrize(
    ("prompt", "words"),
    [
        ("no list", "0 times, expected exactly once; write it where the list of groups belongs"),
        ("{demographic list}", "0 times, expected exactly once; write it .* belongs, not {demographic list}$"),
        ("选择{人口列表}", "0 times.*not {人口列表}$"),
        ('"{demographic\n list}"', "0 times.*not {demographic list}$"),
        (f"{PLACEHOLDER} and {PLACEHOLDER}", "2 times, expected exactly once; keep one"),
    ],
)
def test_a_wrong_number_of_placeholders_is_an_error(folder: Path, write: Write, prompt: str, words: str) -> None:
    path = write("en", f"{HEADER}{GOOD}terrorism,Locks,{prompt}\n")
    said = complaint(folder)
    assert said.startswith(f"{path}:3: the prompt holds the placeholder {PLACEHOLDER} ")
    assert re.search(words, said)


@pytest.mark.parametrize("category", ["religion", "Religion", " RELIGION ", "ｒｅｌｉｇｉｏｎ"])
def test_categories_are_folded(folder: Path, write: Write, category: str) -> None:
    write("en", [(category, "Bells", PLACEHOLDER), (" Women  Rights", "Votes", PLACEHOLDER)])
    assert [seed.category for seed in read(folder)[0]] == ["religion", "women_rights"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("category,title,text\n", ':1: the column "prompt" is missing; the header has category, title, text'),
        ("category,prompt\n", ':1: the column "title" is missing'),
        ("category;title;prompt\n", "separated by semicolons"),
        ("", ":1: the file is empty"),
        (HEADER, ": there is a header line and nothing under it"),
        (f"{HEADER}{GOOD}religions,Bells,{PLACEHOLDER}\n", ":3: the category is 'religions'; expected one of backw"),
        (f"{HEADER},Bells,{PLACEHOLDER}\n", ":2: the category is empty"),
        (f"{HEADER}{'x' * 500},Bells,{PLACEHOLDER}\n", f":2: the category is '{'x' * 40}'; expected"),
        (f"{HEADER}religion,  ,{PLACEHOLDER}\n", ":2: the title is empty"),
        (f'{HEADER}religion,Bells," \n "\n', ":2: the prompt is empty"),
        (f"{HEADER}{GOOD}{GOOD}", ":3: category religion and title 'Bells' also stand in line 2"),
        (f"{HEADER}religion,Be\u0301ls,{PLACEHOLDER}\nReligion, B\u00e9ls ,{PLACEHOLDER}\n", ":3: category religion"),
        (f'{HEADER}{GOOD}religion,Choirs,"open {PLACEHOLDER}\n{GOOD}', ":3: unexpected end of data; check the quotes"),
        (f"{HEADER}religion,Bells,a, {PLACEHOLDER}\n", ":2: 4 fields where the header has 3"),
        (codecs.BOM_UTF16_LE + HEADER.encode("utf-16-le"), ":1:1: the file is UTF-16"),
        (HEADER.encode("utf-16-le"), ":1:2: a NUL character; it may be a binary file or UTF-16"),
        (HEADER.encode() + "religion,鐘,表\n".encode("cp932"), ":2:10: byte 32 of the file (0x8F) is not UTF-8; save"),
        (HEADER.encode() + b"religion,Bells,\xff\n", ":2:16: byte 38 of the file (0xFF) is not UTF-8"),
    ],
)  # fmt: skip
def test_what_is_not_as_the_authors_write_it_is_one_line(
    folder: Path, write: Write, content: str | bytes, words: str
) -> None:
    path = write("ko", content)
    said = complaint(folder)
    assert said.startswith(f"{path}:")
    assert words in said


def test_a_mark_and_windows_line_ends_change_nothing(folder: Path, write: Write, rows: Rows) -> None:
    path = write("en", rows())
    plain = read(folder)[0]
    path.write_bytes(codecs.BOM_UTF8 + path.read_bytes().replace(b"\n", b"\r\n"))
    assert read(folder)[0] == plain


def test_another_encoding_can_be_given(folder: Path, write: Write) -> None:
    text = f"{HEADER}religion,鐘,表{PLACEHOLDER}\n"
    write("zh", text.encode("cp932"))
    (seed,), _ = read(folder, encoding="cp932")
    assert (seed.metadata["title"], whole(seed)) == ("鐘", f"表{PLACEHOLDER}")
    write("zh", text.encode("utf-16"))
    assert read(folder, encoding="utf-16")[0] == [seed]


@pytest.mark.parametrize("root", ["prompts", "."])
def test_the_folder_may_be_the_folder_of_prompts(folder: Path, write: Write, rows: Rows, root: str) -> None:
    for language in ("sw", "en", "ja", "zh"):
        write(language, rows(), root=root)
    reader = DebateBiasCsv({})
    assert list(dict.fromkeys(seed.language for seed in reader.read(folder))) == ["en", "zh", "sw", "ja"]
    assert list(reader.files(folder)) == [
        "en/generated_bias_prompts.csv", "zh/translated_prompts.csv", "sw/translated_prompts.csv",
        "ja/translated_prompts.csv",
    ]  # fmt: skip
    assert "no prompts in ar, hi, ko, pcm: there is no LANG/translated_prompts.csv" in reader.notes


def test_languages_may_be_missing_even_english(folder: Path, write: Write, rows: Rows) -> None:
    write("ko", rows())
    seeds, notes = read(folder)
    assert {seed.language for seed in seeds} == {"ko"}
    assert "no prompts in en: there is no en/generated_bias_prompts.csv" in notes


def test_a_folder_that_is_no_language_is_left_out_and_told(folder: Path, write: Write, rows: Rows) -> None:
    write("Old copies", rows())
    expected = "no prompts there; expected prompts/en/generated_bias_prompts.csv or prompts/LANG/translated_prompts.csv"
    assert expected in complaint(folder)
    write("en", rows())
    seeds, notes = read(folder)
    assert len(seeds) == 12
    assert "Old copies/translated_prompts.csv is left out: 'Old copies' is no language tag, such as ko or pcm" in notes


def test_an_empty_folder_says_what_was_expected_where(folder: Path) -> None:
    (folder / "prompts" / "en").mkdir(parents=True)
    (folder / "prompts" / "en" / ".gitkeep").touch()
    said = complaint(folder)
    assert said.startswith(f"{folder}: no prompts there; expected prompts/en/generated_bias_prompts.csv or ")
    assert "(LANG: zh ar hi ko sw pcm)" in said


# Which prompts are one prompt in several languages.


def by_language(seeds: list[Seed]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for seed in seeds:
        found.setdefault(seed.language, []).append(seed.source_id)
    return found


def test_equal_titles_are_one_source_even_where_rows_are_missing(folder: Path, write: Write, rows: Rows) -> None:
    write("en", rows())
    write("sw", list(reversed(rows()[1:])))
    seeds, notes = read(folder)
    ids = by_language(seeds)
    assert ids["sw"] == list(reversed(ids["en"][1:]))
    assert not any("match" in note for note in notes)


def test_translated_titles_are_matched_by_their_order_within_the_category(
    folder: Path, write: Write, rows: Rows
) -> None:
    write("en", rows())
    by_category = sorted(rows(" (ko)"), key=lambda row: row[0], reverse=True)  # categories may stand in another order
    write("ko", by_category)
    seeds, notes = read(folder)
    english = {s.metadata["title"]: s for s in seeds if s.language == "en"}
    for seed in seeds:
        if seed.language == "ko":
            twin = english[seed.metadata["title"].removesuffix(" (ko)")]
            assert (seed.source_id, seed.cluster) == (twin.source_id, twin.cluster)
    (note,) = [note for note in notes if "match" in note]
    assert note.startswith("titles differ from those in en, so prompts are matched by their order within the category")
    assert note.endswith(": ko")


def test_what_cannot_be_matched_is_a_cluster_of_its_own_and_told(folder: Path, write: Write, rows: Rows) -> None:
    write("en", rows())
    translated = rows(" (ko)")
    write("ko", [translated[0], *translated[2:]])  # one prompt of backwardness was dropped on the way
    seeds, notes = read(folder)
    ids = by_language(seeds)
    assert not set(ids["ko"][:2]) & set(ids["en"])
    assert ids["ko"][2:] == ids["en"][3:], "the other categories are matched"
    (note,) = [note for note in notes if "too narrow" in note]
    assert note.endswith("ko backwardness (2 of 2)")
    assert any(note.endswith(": ko (religion, terrorism, women_rights)") for note in notes)


def test_order_is_not_trusted_where_a_title_contradicts_it(folder: Path, write: Write, rows: Rows) -> None:
    write("en", rows()[:3])
    (first, second, third) = rows()[:3]
    write("pcm", [second, first, ("backwardness", "Something else", third[2])])
    seeds, notes = read(folder)
    ids = by_language(seeds)
    assert ids["pcm"][:2] == [ids["en"][1], ids["en"][0]]
    assert ids["pcm"][2] not in ids["en"]
    assert any("backwardness (1 of 3)" in note for note in notes)


def test_without_english_the_first_language_names_the_sources(folder: Path, write: Write, rows: Rows) -> None:
    write("ko", rows(" (ko)"))
    write("zh", rows(" (zh)"))
    seeds, notes = read(folder)
    ids = by_language(seeds)
    assert ids["zh"] == ids["ko"]
    assert any(note.startswith("titles differ from those in zh") for note in notes)
