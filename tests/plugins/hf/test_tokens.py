from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("biasfw_plugins.hf.runtime", reason="needs the extra hf")

from biasfw_plugins.hf.runtime import transformers
from biasfw_plugins.hf.tokens import Tokeniser

pytestmark = pytest.mark.model

Tiny = Callable[..., Path]


@pytest.fixture(params=[False, True], ids=["bytes", "spaces"])
def tokeniser(tiny: Tiny, request: pytest.FixtureRequest) -> Tokeniser:
    return Tokeniser(transformers.AutoTokenizer.from_pretrained(tiny(spaces=request.param, pieces=("ab", " ab", ". "))))


@pytest.mark.parametrize("text", ["ab", " ab", "  a b ", "a\n\nb", "é한👋", " é", "", "ab.", "a . b , c ' s"])
def test_what_was_said_comes_back_as_it_was(tokeniser: Tokeniser, text: str) -> None:
    ids = tokeniser.encode_inside(text, special=False)
    assert tokeniser.decode(ids) == tokeniser.decode_whole(ids) == text


def test_a_text_inside_another_has_no_space_of_its_own(tokeniser: Tokeniser) -> None:
    for text in ("ab", " ab", "c"):
        whole = tokeniser.encode("a\n" + text, special=False)
        inside = tokeniser.encode_inside(text, special=False)
        assert whole[-len(inside) :] == inside


@pytest.mark.parametrize("text", ["é한👋", "ab👋"])
def test_a_character_that_is_only_begun_is_dropped(tokeniser: Tokeniser, text: str) -> None:
    ids = tokeniser.encode_inside(text, special=False)
    tokens = [len(tokeniser.encode_inside(text[:end], special=False)) for end in range(len(text) + 1)]
    for count in range(len(ids) + 1):
        whole = max(end for end, needed in enumerate(tokens) if needed <= count)
        assert tokeniser.decode_whole(ids[:count]) == text[:whole]


def test_invalid_bytes_are_shown(tokeniser: Tokeniser) -> None:
    first, *_ = tokeniser.encode_inside("é", special=False)
    following = tokeniser.encode_inside("b", special=False)
    assert tokeniser.decode_whole([first, *following]) == "\ufffdb"


def test_a_replacement_character_that_was_said_stays(tokeniser: Tokeniser) -> None:
    assert tokeniser.decode_whole(tokeniser.encode_inside("a\ufffd", special=False)) == "a\ufffd"


def test_control_tokens_are_left_out(tokeniser: Tokeniser) -> None:
    ids = tokeniser.encode_inside("ab<|im_end|>", special=True)
    assert tokeniser.decode(ids) == "ab"
    assert tokeniser.is_control(ids[-1])
    assert not tokeniser.is_control(ids[0])


def test_the_beginning(tiny: Tiny) -> None:
    for add_bos in (True, False):
        tokenizer = transformers.AutoTokenizer.from_pretrained(tiny(f"bos{add_bos}", add_bos=add_bos))
        assert Tokeniser(tokenizer).beginning == ((0,) if add_bos else ())


def test_a_long_text_says_nothing_on_the_terminal(tiny: Tiny, capfd: pytest.CaptureFixture[str]) -> None:
    tokenizer = transformers.AutoTokenizer.from_pretrained(tiny(), model_max_length=8)
    capfd.readouterr()
    assert len(Tokeniser(tokenizer).encode("x" * 100, special=False)) == 100
    assert capfd.readouterr() == ("", "")
