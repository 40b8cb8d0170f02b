"""Generation by the backend llamacpp, side by side, against a loop over llama-cpp-python's create_chat_completion.

Both continue the same prompts greedily for exactly the same number of tokens (the end of a text is ignored), with the
same threads, in alternating rounds. Prefill is what evaluates prompts; decode is all the rest.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import llama_cpp
from _common import (
    Clock,
    Ratios,
    Requests,
    existing,
    median_and_spread,
    number,
    options_of,
    requests_of,
    say_where,
    timed,
    told,
)
from floor import Floor, Weights

from biasfw import BackendSettings, Sampling
from biasfw_plugins.llamacpp.backend import LlamaCpp
from biasfw_plugins.llamacpp.context import Context
from biasfw_plugins.llamacpp.cores import usable_cores
from biasfw_plugins.llamacpp.models import find_model
from biasfw_plugins.llamacpp.native import Model

LANGUAGES = ("en", "zh", "ar", "hi", "ko", "sw", "pcm")


def prompts(languages: tuple[str, ...], count: int, tokens: int) -> Requests:
    """``count`` requests of debatebias, each language in one piece, so that a loop too can keep what is shared."""
    sizes = [len(part) for part in (range(count)[place :: len(languages)] for place in range(len(languages)))]
    made = [
        request
        for language, size in zip(languages, sizes, strict=True)
        if size
        for request in requests_of("debatebias", size, languages=(language,), limit=size)
    ]
    return Requests(replace(request, sampling=Sampling(temperature=0.0, max_tokens=tokens)) for request in made)


def ours(backend: LlamaCpp, asked: Requests, tokens: int) -> tuple[Clock, Clock]:
    """Time of all and of the prompts."""
    whole, prefill = Clock(), Clock()
    decode = Context.decode
    Context.decode = timed(decode, prefill)  # type: ignore[method-assign]
    try:
        with whole.running():
            made = list(backend.run(asked))
    finally:
        Context.decode = decode  # type: ignore[method-assign]
    assert all(answer.error is None and answer.completion_tokens == tokens for answer in made)
    return whole, prefill


def theirs(llama: Any, asked: Requests, tokens: int) -> tuple[Clock, Clock]:
    """Time of all and of the prompts (to the first token)."""
    whole, prefill = Clock(), Clock()
    evaluate: Callable[..., Any] = llama.eval

    def counted(ids: list[int]) -> None:
        with prefill.running() if len(ids) > 1 else Clock().running():
            evaluate(ids)

    llama.eval = counted
    with whole.running():
        for request in asked:
            messages = [{"role": turn.role, "content": turn.content} for turn in request.messages]
            made = llama.create_chat_completion(messages, max_tokens=tokens, temperature=0.0)
            assert tokens - made["usage"]["completion_tokens"] <= 4  # the beginning of a character is not counted
    llama.eval = evaluate
    return whole, prefill


def main() -> None:
    """Read the options, measure, print."""
    parser = options_of(__doc__)
    parser.add_argument("--model", type=existing, help="a GGUF file; default: the embedded SmolLM2-135M-Instruct")
    parser.add_argument("--sequences", type=number, default=16, help="prompts, all side by side")
    parser.add_argument("--tokens", type=number, default=256, help="new tokens of each")
    parser.add_argument("--threads", type=number, default=usable_cores(), help="of both sides")
    parser.add_argument("--rounds", type=number, default=3, help="of both sides in turn")
    parser.add_argument(
        "--languages", choices=("en", "all", "both"), default="both", help="English, all seven, or one after the other"
    )
    options = parser.parse_args()
    say_where("llama-cpp-python")

    path = str(find_model(options.model).paths[0])
    settings = {"parallel": options.sequences, "n_threads": options.threads}
    llama: Any = llama_cpp.Llama(
        path, n_ctx=4096, n_threads=options.threads, n_threads_batch=options.threads, verbose=False
    )
    llama_cpp.llama_cpp.llama_vocab_is_eog = lambda *_: False
    Model.ends = lambda *_: False  # type: ignore[method-assign]
    wanted: dict[str, list[tuple[str, ...]]] = {"en": [("en",)], "all": [LANGUAGES], "both": [("en",), LANGUAGES]}
    floor = Floor.measured("float32", options.threads)
    model = Model(Path(path))
    weights = Weights.of_gguf(model, Path(path).stat().st_size)
    model.close()
    for languages in wanted[options.languages]:
        asked = prompts(languages, options.sequences, options.tokens)
        name = "English" if languages == ("en",) else f"{len(languages)} languages"
        print(f"{name}: {len(asked)} prompts, {options.tokens} new tokens each, {options.threads} threads")
        whole, decoding = Ratios("  end to end"), Ratios("  decode phase")
        shares = []
        for _ in range(options.rounds):
            backend = LlamaCpp(BackendSettings(path, "generate", options=settings))
            backend.prepare()
            mine, my_prefill = ours(backend, asked, options.tokens)
            backend.close()
            llama.reset()
            other, other_prefill = theirs(llama, asked, options.tokens)
            whole.add(other, mine)
            decoding.add(other.without(other_prefill), mine.without(my_prefill))
            shares.append((my_prefill.processor / mine.processor, other_prefill.processor / other.processor))
        decoding.show(1.5)
        whole.show(1.5 if languages == ("en",) else 1.2)
        steps = options.tokens - 1  # the first token comes from the prompt
        least = floor.arithmetic(weights, steps * options.sequences, steps * options.sequences)
        print(f"  ours: decode phase {median_and_spread(decoding.seconds)} s; at least ", end="")
        print(f"{least:.2f} s of arithmetic, {floor.reading(weights, steps):.2f} s to read the weights; {floor}")
        print("  prefill share (ours, theirs):", ", ".join(f"{mine:.0%} {other:.0%}" for mine, other in shares))


if __name__ == "__main__":
    told(main)
