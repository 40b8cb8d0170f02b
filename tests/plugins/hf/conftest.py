"""Tiny models with random weights and tiny tokenisers, made here, so that most tests need no real model."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from biasfw import BackendSettings, ChoiceText, ComponentError, Message, Request, Response, Sampling, sha256_text

CHATML = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
_NEEDS = "needs the extra hf"
CONTROL = ["<s>", "</s>", "<|im_start|>", "<|im_end|>"]


def _merges(pieces: Sequence[str], spell: Callable[[str], str]) -> list[tuple[str, str]]:
    """The merges that build each piece from left to right."""
    made: dict[tuple[str, str], None] = {}
    for piece in map(spell, pieces):
        for end in range(2, len(piece) + 1):
            made[(piece[: end - 1], piece[end - 1])] = None
    return list(made)


def _bytes_tokeniser(pieces: Sequence[str]) -> Any:
    """Byte-level BPE as in GPT-2, that splits at nothing: every byte, and ``pieces``."""
    tokenizers: Any = pytest.importorskip("tokenizers", reason=_NEEDS)
    decoders, models, pre_tokenizers = tokenizers.decoders, tokenizers.models, tokenizers.pre_tokenizers

    def spell(text: str) -> str:
        (split,) = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False).pre_tokenize_str(text)
        return str(split[0])

    merges = _merges(pieces, spell)
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    words = [*CONTROL, *alphabet, *dict.fromkeys(left + right for left, right in merges)]
    tokenizer = tokenizers.Tokenizer(
        models.BPE(vocab={word: number for number, word in enumerate(words)}, merges=merges)
    )
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


def _spaces_tokeniser(pieces: Sequence[str]) -> Any:
    """SentencePiece BPE as in Llama 2: a space before every text, bytes for what is not in the vocabulary."""
    tokenizers: Any = pytest.importorskip("tokenizers", reason=_NEEDS)
    decoders, models, pre_tokenizers = tokenizers.decoders, tokenizers.models, tokenizers.pre_tokenizers

    merges = _merges([piece.replace(" ", "▁") for piece in pieces], lambda piece: piece)
    words = [*CONTROL, *(f"<0x{byte:02X}>" for byte in range(256)), "▁", *"abcdefgh.:?\n"]
    words += dict.fromkeys(left + right for left, right in merges)
    model = models.BPE(
        vocab={word: number for number, word in enumerate(words)}, merges=merges, unk_token="<s>", byte_fallback=True
    )
    tokenizer = tokenizers.Tokenizer(model)
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first", split=False)
    tokenizer.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    return tokenizer


def _configuration(architecture: str, vocabulary: int, context: int) -> Any:
    transformers: Any = pytest.importorskip("transformers", reason=_NEEDS)
    common = {"vocab_size": vocabulary, "bos_token_id": 0, "eos_token_id": 1, "pad_token_id": None}
    shape = {"hidden_size": 32, "num_hidden_layers": 2, "initializer_range": 0.3}
    heads = {"num_attention_heads": 2, "intermediate_size": 64, "max_position_embeddings": context}
    if architecture == "mistral":
        return transformers.MistralConfig(**common, **shape, **heads, num_key_value_heads=1, sliding_window=16)
    if architecture == "gpt2":
        return transformers.GPT2Config(
            **common, n_embd=32, n_layer=2, n_head=2, n_positions=context, initializer_range=0.3
        )
    if architecture == "mpt":  # no positions can be told to it
        return transformers.MptConfig(
            **common, d_model=32, n_layers=2, n_heads=2, max_seq_len=context, initializer_range=0.3
        )
    if architecture == "mamba":
        return transformers.MambaConfig(**common, **shape, state_size=8)
    if architecture == "bert":
        return transformers.BertConfig(**common, **shape, **heads)
    return transformers.LlamaConfig(**common, **shape, **heads, num_key_value_heads=1)


@pytest.fixture
def tiny(tmp_path: Path) -> Callable[..., Path]:
    """Write a model with random weights into a folder."""

    def make(
        name: str = "tiny",
        *,
        architecture: str = "llama",
        template: str | None = CHATML,
        add_bos: bool = True,
        pieces: Sequence[str] = (),
        context: int = 512,
        spaces: bool = False,
        **saving: Any,
    ) -> Path:
        runtime: Any = pytest.importorskip("biasfw_plugins.hf.runtime", reason=_NEEDS)
        tokenizers: Any = pytest.importorskip("tokenizers", reason=_NEEDS)
        torch, transformers = runtime.torch, runtime.transformers
        backend = (_spaces_tokeniser if spaces else _bytes_tokeniser)(pieces)
        backend.add_special_tokens([tokenizers.AddedToken(text, special=True, normalized=False) for text in CONTROL])
        if add_bos:
            backend.post_processor = tokenizers.processors.TemplateProcessing(
                single="<s> $A", special_tokens=[("<s>", 0)]
            )
        tokenizer = transformers.PreTrainedTokenizerFast(
            tokenizer_object=backend,
            bos_token="<s>",
            eos_token="</s>",
            additional_special_tokens=CONTROL[2:],
            clean_up_tokenization_spaces=False,
        )
        tokenizer.chat_template = template
        with torch.random.fork_rng():
            torch.manual_seed(7)
            configuration = _configuration(architecture, backend.get_vocab_size(), context)
            model = transformers.AutoModelForCausalLM.from_config(configuration)
        folder = tmp_path / name
        model.save_pretrained(folder, **saving)
        tokenizer.save_pretrained(folder)
        return folder

    return make


class Requests(list[Request]):
    """A request sequence in memory that counts how often a request is read."""

    reads = 0

    def __getitem__(self, index: Any) -> Any:
        self.reads += 1
        return super().__getitem__(index)

    @property
    def lengths(self) -> Sequence[int]:
        return [sum(len(turn.content) for turn in request.messages) + len(request.prompt or "") for request in [*self]]

    @property
    def prefixes(self) -> Sequence[int]:
        return [0] * len(self)


@pytest.fixture
def ask() -> Callable[..., Request]:
    """Build a request: ``ask("text", choices=["a", "b"], max_tokens=5)``; ``raw=`` or ``system=`` where wanted."""

    def build(
        user: str = "",
        *,
        system: str | None = None,
        raw: str | None = None,
        choices: Sequence[str] = (),
        **sampling: Any,
    ) -> Request:
        messages = [Message("system", system)] if system is not None else []
        messages += [Message("user", user)] if raw is None else []
        return Request(
            key=sha256_text(repr((user, system, raw, choices, sampling))),
            item_id="item",
            sampling=Sampling(**sampling),
            messages=tuple(messages),
            prompt=raw,
            choices=tuple(ChoiceText(str(number), text) for number, text in enumerate(choices)),
        )

    return build


@pytest.fixture(scope="session")
def requests() -> type[Requests]:
    """The request sequence class."""
    return Requests


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Digests are remembered in a folder of the test's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture(scope="session")
def embedded() -> Any:
    """Where the GGUF file of SmolLM2-135M-Instruct lies (``sources.Files``)."""
    sources: Any = pytest.importorskip("biasfw_plugins.hf.sources", reason=_NEEDS)
    try:
        return sources.find_source(None, {}).fetch()
    except ComponentError as missing:
        pytest.skip(str(missing))


@pytest.fixture(scope="session")
def smollm2(embedded: Any) -> Iterator[Any]:
    """That model on the CPU, loaded once; in float32."""
    module: Any = pytest.importorskip("biasfw_plugins.hf.backend", reason=_NEEDS)
    assert embedded.gguf
    made = module.HuggingFace(BackendSettings(None, "choices", options={"device": "cpu"}))
    made.prepare()
    yield made
    made.close()


@pytest.fixture(scope="session")
def smollm2_llamacpp(embedded: Any) -> Iterator[Any]:
    """The same file through llama.cpp, whose 4-bit arithmetic rounds where ours does not."""
    module: Any = pytest.importorskip("biasfw_plugins.llamacpp.backend", reason="needs the extra llamacpp")
    assert embedded.gguf
    made = module.LlamaCpp(BackendSettings(None, "choices"))
    made.prepare()
    yield made
    made.close()


@pytest.fixture(scope="session")
def answers(requests: type[Requests]) -> Callable[[Any, Sequence[Request]], list[Response]]:
    """What a backend answers, in the order of the requests."""

    def answer(backend: Any, asked: Sequence[Request]) -> list[Response]:
        made = {response.key: response for response in backend.run(requests(asked))}
        return [made[request.key] for request in asked]

    return answer


@pytest.fixture(scope="session")
def jubaku() -> Callable[[str, int], list[Request]]:
    """``jubaku("v1", 64)``: the first rows as raw prompts, which are asked for the letter A or B."""

    def read(version: str, count: int) -> list[Request]:
        name = f"jubaku_ver{version.removeprefix('v')}.jsonl"
        for folder in Path(__file__).resolve().parents:
            path = folder / "shared" / "data" / "jubaku" / name
            if path.is_file():
                rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()[:count]]
                return [_letters(version, row) for row in rows]
        pytest.skip(f"the official file {name} (a folder shared/data/jubaku beside the checkout) is not here")

    return read


def _letters(version: str, row: dict[str, Any]) -> Request:
    return Request(
        key=sha256_text(f"{version} {row['example_id']}"),
        item_id=row["example_id"],
        sampling=Sampling(),
        prompt=row["instruction"],
        choices=(ChoiceText("a", "A"), ChoiceText("b", "B")),
    )
