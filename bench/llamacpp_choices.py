"""Scoring of choices by the backend llamacpp against evaluating every prompt, or every pair, from scratch.

jubaku: two letters after each prompt; against the eval of llama-cpp-python's class Llama for each prompt.
debatebias: 20 pairs of groups after each prompt; against evaluating prompt and pair anew for each pair, with logits
only where they are needed. In alternating rounds, with the same token ids.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import llama_cpp
import numpy as np
from _common import (
    Clock,
    Ratios,
    Requests,
    existing,
    median_and_spread,
    none_or_number,
    number,
    options_of,
    requests_of,
    say_where,
    told,
)
from floor import Floor, Weights, distinct

from biasfw import BackendSettings, Response
from biasfw_plugins.llamacpp.backend import LlamaCpp
from biasfw_plugins.llamacpp.context import Context
from biasfw_plugins.llamacpp.cores import usable_cores
from biasfw_plugins.llamacpp.jobs import Scoring
from biasfw_plugins.llamacpp.models import find_model
from biasfw_plugins.llamacpp.native import Model
from biasfw_plugins.llamacpp.scoring import Plan
from biasfw_plugins.llamacpp.session import Session, Speed

Sums = list[list[float]]


def plans_of(path: str, asked: Requests) -> list[Plan]:
    """Token ids of every request."""
    model = Model(find_model(path).paths[0])
    session = Session(model, Speed(512, 1))
    jobs = [session.job(request) for request in asked]
    model.close()
    return [job.plan for job in jobs if isinstance(job, Scoring)]


def ours(backend: LlamaCpp, asked: Requests) -> tuple[Clock, Sums]:
    """Time and sums of log-probabilities."""
    clock = Clock()
    with clock.running():
        made: dict[str, Response] = {answer.key: answer for answer in backend.run(asked)}
    return clock, [[score.sum or 0.0 for score in made[request.key].choice_logprobs] for request in asked]


def each_prompt(llama: Any, plans: list[Plan]) -> tuple[Clock, Sums]:
    """The plain way for letters: one eval for each prompt, then the letters' log-probabilities."""
    clock, sums = Clock(), []
    with clock.running():
        for plan in plans:
            assert all(len(sequence) == plan.start + 1 for sequence in plan.sequences), "letters of one token each"
            llama.reset()
            llama.eval(list(plan.sequences[0][: plan.start]))
            # The class keeps no logits unless it computes all of them: read those of the last token.
            logprobs = _log_softmax(np.ctypeslib.as_array(llama._ctx.get_logits_ith(-1), shape=(llama.n_vocab(),)))
            sums.append([float(logprobs[sequence[-1]]) for sequence in plan.sequences])
    return clock, sums


def each_pair(model: Model, plans: list[Plan], threads: int) -> tuple[Clock, Sums]:
    """The plain way for pairs: prompt and pair evaluated anew for each."""
    longest = max(plan.tokens for plan in plans)
    context = Context(model, cells=-(-longest // 256) * 256 + 256, n_batch=512, n_threads=threads)
    clock, sums = Clock(), []
    with clock.running():
        for plan in plans:
            sums.append([_from_scratch(context, sequence, plan.start) for sequence in plan.sequences])
    context.close()
    return clock, sums


def _from_scratch(context: Context, sequence: tuple[int, ...], start: int) -> float:
    context.rewind(0)
    total = 0.0
    for begin in range(0, len(sequence) - 1, context.n_batch):
        chunk = sequence[begin : min(begin + context.n_batch, len(sequence) - 1)]
        first = max(0, start - 1 - begin)
        context.decode(chunk, begin, outputs=slice(first, len(chunk)))
        for index in range(first, len(chunk)):
            total += float(_log_softmax(context.logits(index))[sequence[begin + index + 1]])
    return total


def _log_softmax(logits: Any) -> Any:
    values = np.asarray(logits, dtype=np.float64)
    values = values - values.max()
    return values - np.log(np.exp(values).sum())


def compare(ours_: Sums, theirs: Sums) -> None:
    """Print by how much sums and winners differ."""
    differences = [
        abs(a - b) for mine, other in zip(ours_, theirs, strict=True) for a, b in zip(mine, other, strict=True)
    ]
    margins = [abs((a[0] - a[1]) - (b[0] - b[1])) for a, b in zip(ours_, theirs, strict=True)]
    winners = sum(np.argmax(a) == np.argmax(b) for a, b in zip(ours_, theirs, strict=True))
    print(
        f"  sums differ by up to {max(differences):.2g}, margins of the first two by up to {max(margins):.2g}; ", end=""
    )
    print(f"equal winners in {winners} of {len(ours_)}")


def measure(name: str, target: float, path: str, asked: Requests, options: argparse.Namespace) -> None:
    """Alternating rounds for one benchmark."""
    plans = plans_of(path, asked)
    model = Model(find_model(path).paths[0])
    llama: Any = None
    if name == "jubaku":
        llama = llama_cpp.Llama(
            path, n_ctx=2048, n_threads=options.threads, n_threads_batch=options.threads, verbose=False
        )
    ratios = Ratios("  rows")
    print(
        f"{name}: {len(asked)} prompts, {sum(len(plan.sequences) for plan in plans)} choices, {options.threads} threads"
    )
    for _ in range(options.rounds):
        backend = LlamaCpp(BackendSettings(path, "choices", options={"n_threads": options.threads}))
        backend.prepare()
        mine, my_sums = ours(backend, asked)
        backend.close()
        other, other_sums = each_prompt(llama, plans) if llama else each_pair(model, plans, options.threads)
        ratios.add(other, mine)
    weights = Weights.of_gguf(model, Path(path).stat().st_size)
    model.close()
    compare(my_sums, other_sums)
    ratios.show(target)
    floor = Floor.measured("float32", options.threads)
    scored = [sequence for plan in plans for sequence in plan.sequences]
    apart = distinct(sequence[:-1] for sequence in scored)
    logits = distinct(scored) - distinct(plan.sequences[0][: plan.start - 1] for plan in plans)
    least = floor.arithmetic(weights, apart, min(logits, apart))
    print(f"  ours: {median_and_spread(ratios.seconds)} s; floor: {floor}")
    print(f"  {apart} tokens not shared ({sum(map(len, scored))} in all): {least:.2f} s at least in float32")


def main() -> None:
    """Read the options, measure, print."""
    parser = options_of(__doc__)
    parser.add_argument("--model", type=existing, help="a GGUF file; default: the embedded SmolLM2-135M-Instruct")
    parser.add_argument(
        "--data", type=existing, help="folder with jubaku_ver1.jsonl; without it the split demo is measured"
    )
    parser.add_argument("--rows", type=none_or_number, default=64, help="prompts of jubaku")
    parser.add_argument("--pairs", type=none_or_number, default=8, help="prompts of debatebias")
    parser.add_argument("--threads", type=number, default=usable_cores(), help="of both sides")
    parser.add_argument("--rounds", type=number, default=3, help="of both sides in turn")
    options = parser.parse_args()
    if not options.rows and not options.pairs:
        parser.error("--rows and --pairs are both 0: nothing to measure")
    say_where("llama-cpp-python")
    path = str(find_model(options.model).paths[0])
    if options.rows:
        split = {"benchmark": "jubaku:v1", "data": options.data} if options.data else {"benchmark": "jubaku:demo"}
        measure("jubaku", 1.6, path, requests_of(count=options.rows, mode="choices", **split), options)
    if options.pairs:
        asked = requests_of("debatebias", options.pairs, mode="choices", languages=("en",), limit=options.pairs)
        measure("debatebias", 8, path, asked, options)


if __name__ == "__main__":
    told(main)
