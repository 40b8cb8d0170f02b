from __future__ import annotations

import json
import os
import subprocess
import sys
import weakref
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from biasfw import Backend, BackendSettings, ComponentError, Request, Response
from biasfw_plugins import hf

pytest.importorskip("biasfw_plugins.hf.runtime", reason="needs the extra hf")

from biasfw_plugins.hf import backend as backend_module
from biasfw_plugins.hf.backend import HuggingFace
from biasfw_plugins.hf.network import Network
from biasfw_plugins.hf.runtime import torch, transformers

pytestmark = pytest.mark.model

Ask = Callable[..., Request]
Tiny = Callable[..., Path]
Make = Callable[..., HuggingFace]
PAIRS = [f"A: {x}\nB: {y}\n" for x in "pqr" for y in "pqr" if x != y]


@pytest.fixture
def make() -> Iterator[Make]:
    """Build backends; all are closed when the test ends."""
    made: list[HuggingFace] = []

    def build(path: Path | str, mode: Any = "generate", **options: Any) -> HuggingFace:
        made.append(HuggingFace(BackendSettings(str(path), mode, options={"device": "cpu", **options})))
        return made[-1]

    yield build
    for each in made:
        each.close()


def weights_of(folder: Path) -> dict[str, Any]:
    from safetensors.torch import load_file  # noqa: PLC0415

    return dict(load_file(folder / "model.safetensors"))


def save_weights(folder: Path, weights: dict[str, Any]) -> None:
    from safetensors.torch import save_file  # noqa: PLC0415

    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})


class TestSpec:
    def test_is_what_it_says(self) -> None:
        (spec,) = hf.biasfw_backends()
        assert (spec.name, spec.load, spec.extra) == ("hf", f"{HuggingFace.__module__}:HuggingFace", "hf")
        assert spec.capabilities == {"generate", "choices"}
        assert isinstance(HuggingFace(BackendSettings(None, "generate")), Backend)

    @pytest.mark.parametrize("own", [None, "50"])
    def test_the_environment_is_left_as_it_was(self, own: str | None) -> None:
        code = "import os, biasfw_plugins.hf.runtime; print(os.environ.get('GOMP_SPINCOUNT'))"
        assert _python(code, **({"GOMP_SPINCOUNT": own} if own else {})).stdout.strip() == str(own)


def _python(code: str, *arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **settings},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )


class TestIdentity:
    def test_says_what_was_loaded(self, tiny: Tiny, make: Make) -> None:
        path = tiny()
        backend = make(path)
        identity = backend.prepare()
        assert identity.fingerprint == backend.fingerprint()
        assert (identity.model, identity.architecture, identity.quantisation) == ("tiny", "llama", None)
        assert (identity.device, identity.dtype, identity.notes) == ("cpu", "float32", ())
        assert identity.template_sha256 is not None
        assert identity.details["n_ctx_train"] == 512
        assert identity.details["n_params"] == sum(weights.numel() for weights in weights_of(path).values())
        assert {"torch", "transformers"} <= set(identity.libraries)
        assert str(path.parent) not in repr(identity)
        json.dumps(identity.details)

    def test_the_default_device_says_what_it_is(self, tiny: Tiny, monkeypatch: pytest.MonkeyPatch) -> None:
        """C85."""
        monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
        monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
        backend = HuggingFace(BackendSettings(str(tiny()), "generate"))
        assert backend.prepare().notes == ("no GPU that PyTorch can use: the model runs on the CPU",)
        backend.close()

    def test_fingerprint_loads_nothing(self, tiny: Tiny, make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delattr(backend_module, "load")
        assert make(tiny()).fingerprint().startswith("sha256:")

    @pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
    def test_a_number_type(self, tiny: Tiny, make: Make, ask: Ask, requests: type, dtype: str) -> None:
        backend = make(tiny(), dtype=dtype)
        assert backend.prepare().dtype == dtype
        chosen, said = backend.run(requests([ask("x", choices=PAIRS), ask("x", max_tokens=3)]))
        assert all(score.sum is not None and score.sum < 0 for score in chosen.choice_logprobs)
        assert said.error is None

    def test_spread_over_devices(self, tiny: Tiny, ask: Ask, requests: type) -> None:
        pytest.importorskip("accelerate", reason="needs the extra hf")
        path = str(tiny())
        spread = HuggingFace(BackendSettings(path, "choices", options={"device_map": "auto"}))
        whole = HuggingFace(BackendSettings(path, "choices"))
        asked = requests([ask("x", choices=PAIRS), ask("x", max_tokens=5)])
        assert set(str(spread.prepare().device).split(", ")) <= {"cpu", *(f"cuda:{n}" for n in range(64))}
        for ours, theirs in zip(spread.run(asked), whole.run(asked), strict=True):
            assert ours.error is None
            assert torch.cuda.is_available() or (ours.text, ours.choice_logprobs) == (
                theirs.text,
                theirs.choice_logprobs,
            )
        spread.close()
        whole.close()

    @pytest.mark.parametrize(
        ("template", "note"),
        [
            (None, "no chat template: only --prompt-style raw works"),
            ("{% for", "cannot be used"),
            (
                "{% for m in messages %}{% if m.role == 'system' %}{{ raise_exception('no') }}{% endif %}"
                "{{ m.content }}{% endfor %}",
                "system text is put before the first user turn",
            ),
            ("{{ strftime_now('%d %b %Y') }}{% for m in messages %}{{ m.content }}{% endfor %}", "2024-07-26"),
        ],
    )
    def test_notes(self, tiny: Tiny, make: Make, template: str | None, note: str) -> None:
        (said,) = make(tiny(template=template)).prepare().notes
        assert note in said

    def test_a_switch_that_the_template_does_not_know(self, tiny: Tiny, make: Make) -> None:
        (said,) = make(tiny(), enable_thinking=False).prepare().notes
        assert "enable_thinking" in said
        knows = "{% for m in messages %}{{ m.content }}{% endfor %}{% if enable_thinking %}<think>{% endif %}"
        assert make(tiny("thinks", template=knows), enable_thinking=True).prepare().notes == ()


class TestRun:
    def test_answers_each_request_once(self, tiny: Tiny, make: Make, ask: Ask, requests: type) -> None:
        asked = requests([ask("one", max_tokens=4), ask("two", choices=PAIRS), ask(raw="three", max_tokens=4)])
        answers = {answer.key: answer for answer in make(tiny()).run(asked)}
        assert set(answers) == {request.key for request in asked}
        assert all(answer.error is None and answer.seconds is not None for answer in answers.values())
        scores = answers[asked[1].key].choice_logprobs
        assert [score.key for score in scores] == [str(number) for number in range(len(PAIRS))]
        assert answers[asked[0].key].prompt_tokens is not None
        assert answers[asked[0].key].finish_reason in ("stop", "length")

    def test_nothing_asked_nothing_answered(self, tiny: Tiny, make: Make, requests: type) -> None:
        assert list(make(tiny()).run(requests())) == []

    @pytest.mark.parametrize("budget", [None, 1, 300])
    @pytest.mark.parametrize("architecture", ["llama", "mamba"])
    def test_an_answer_depends_on_its_request_alone(
        self, tiny: Tiny, make: Make, ask: Ask, requests: type, architecture: str, budget: int | None
    ) -> None:
        asked = [
            ask(f"{word} " * (1 + 5 * number % 17), **sampling)
            for number, word in enumerate(["some", "words", "to", "continue"] * 2)
            for sampling in ({"choices": PAIRS}, {"temperature": 1.0, "max_tokens": 12}, {"max_tokens": 12})
        ]

        def answers(order: Sequence[Request], **options: Any) -> dict[str, Response]:
            made = {answer.key: answer for answer in make(path, **options).run(requests(order))}
            assert all(answer.error is None for answer in made.values())
            return made

        path = tiny(architecture=architecture)
        expected = answers(asked)
        options = {} if budget is None else {"batch_tokens": budget}
        interrupted = answers(asked[:7], **options) | answers(asked[7:], **options)
        for other in (answers(asked[::-1], **options), interrupted):
            assert set(other) == set(expected)
            for key, answer in expected.items():
                assert (other[key].text, other[key].flags) == (answer.text, answer.flags)
                ours, theirs = ([score.sum for score in each.choice_logprobs] for each in (other[key], answer))
                np.testing.assert_allclose(np.array(ours, float), np.array(theirs, float), rtol=0, atol=1e-3)

    def test_an_interruption_leaves_the_backend_usable(
        self, tiny: Tiny, make: Make, ask: Ask, requests: type, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        asked = requests([ask("one", choices=PAIRS), ask("two", temperature=1.0, max_tokens=9)])
        backend = make(tiny())
        expected = [(answer.text, answer.choice_logprobs) for answer in backend.run(asked)]
        advance, calls = Network._advance, iter(range(100))

        def interrupted(self: Network, *arguments: Any) -> Any:
            if next(calls) == 3:
                raise KeyboardInterrupt
            return advance(self, *arguments)

        with monkeypatch.context() as patch:
            patch.setattr(Network, "_advance", interrupted)
            with pytest.raises(KeyboardInterrupt):
                list(backend.run(asked))
        assert [(answer.text, answer.choice_logprobs) for answer in backend.run(asked)] == expected

    def test_closing_frees_the_model_and_it_can_be_loaded_again(
        self, tiny: Tiny, make: Make, ask: Ask, requests: type
    ) -> None:
        backend = make(tiny())
        asked = requests([ask("one", max_tokens=3)])
        expected = [answer.text for answer in backend.run(asked)]
        backend.prepare()
        held = weakref.ref(backend._load()[1].model)
        assert held() is not None
        backend.close()
        backend.close()
        assert held() is None
        assert [answer.text for answer in backend.run(asked)] == expected

    def test_texts_are_read_as_they_are_needed(self, tiny: Tiny, make: Make, ask: Ask, requests: type) -> None:
        asked = requests(ask(f"{number}", max_tokens=1) for number in range(600))
        next(iter(make(tiny()).run(asked)))
        assert asked.reads <= 1 + 256  # a look at the first, and a window

    def test_the_end_of_a_turn_ends_an_answer(
        self, tiny: Tiny, make: Make, ask: Ask, requests: type, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The settings name </s> only; the template ends a turn with another token."""
        backend = make(tiny())
        number = transformers.AutoTokenizer.from_pretrained(tiny()).convert_tokens_to_ids("<|im_end|>")
        advance = Network._advance

        def ends_soon(self: Network, rows: Any, *arguments: Any) -> Any:
            logits = advance(self, rows, *arguments).clone()
            logits[..., number] = 1e4 if rows.mask.shape[1] > 30 else -1e4
            return logits

        monkeypatch.setattr(Network, "_advance", ends_soon)
        (answer,) = backend.run(requests([ask("Hello", max_tokens=50)]))
        assert answer.finish_reason == "stop"
        assert 0 < (answer.completion_tokens or 0) < 20


class TestErrors:
    def _one(self, backend: HuggingFace, requests: type, *asked: Request) -> list[Response]:
        made = {answer.key: answer for answer in backend.run(requests(asked))}
        return [made[request.key] for request in asked]

    def test_a_context_too_small(self, tiny: Tiny, make: Make, ask: Ask, requests: type) -> None:
        backend = make(tiny(context=100))
        long, fits = ask("x" * 100, max_tokens=8), ask("x", max_tokens=8)
        chosen = ask("x" * 100, choices=["y", "z"])
        first, second, third = self._one(backend, requests, long, fits, chosen)
        for failed in (first, third):
            assert failed.error is not None
            assert (failed.error.kind, failed.error.permanent) == ("context_too_small", True)
            assert "the context holds 100" in failed.error.message
            assert "trained for no more" in failed.error.message
        assert first.error is not None
        assert "tokens and max_tokens=8 are 1" in first.error.message
        assert second.error is None

    def test_room_for_the_answer_counts(self, tiny: Tiny, make: Make, ask: Ask, requests: type) -> None:
        backend = make(tiny(context=100))
        prompt = self._one(backend, requests, ask("x", max_tokens=1))[0].prompt_tokens or 0
        just, over = ask("x", max_tokens=100 - prompt), ask("x", max_tokens=101 - prompt)
        fits, fails = self._one(backend, requests, just, over)
        assert fits.error is None
        assert fails.error is not None
        assert "101" in fails.error.message

    def test_messages_without_a_template_stop_before_anything_is_asked(
        self, tiny: Tiny, make: Make, ask: Ask, requests: type
    ) -> None:
        backend = make(tiny(template=None))
        with pytest.raises(ComponentError, match=r"no chat template.*--prompt-style raw"):
            next(iter(backend.run(requests([ask("Hi")]))))
        assert self._one(backend, requests, ask(raw="Hi", max_tokens=2))[0].error is None

    def test_a_template_that_refuses_one_conversation(self, tiny: Tiny, make: Make, ask: Ask, requests: type) -> None:
        template = (
            "{% for m in messages %}{% if 'bad' in m.content %}{{ raise_exception('not this') }}{% endif %}"
            "{{ m.content }}{% endfor %}"
        )
        refused, fine = self._one(make(tiny(template=template)), requests, ask("bad"), ask("good", max_tokens=2))
        assert refused.error is not None
        assert (refused.error.kind, refused.error.permanent) == ("template", True)
        assert "not this" in refused.error.message
        assert fine.error is None

    def test_an_empty_prompt_without_bos(self, tiny: Tiny, make: Make, ask: Ask, requests: type) -> None:
        (answer,) = self._one(make(tiny(add_bos=False)), requests, ask(raw=""))
        assert answer.error is not None
        assert answer.error.kind == "empty_prompt"

    def test_logits_that_are_not_finite(
        self, tiny: Tiny, make: Make, ask: Ask, requests: type, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        advance = Network._advance
        monkeypatch.setattr(Network, "_advance", lambda *arguments: advance(*arguments) * float("nan"))
        for answer in self._one(make(tiny()), requests, ask("x", choices=PAIRS), ask("x", max_tokens=3)):
            assert answer.error is not None
            assert (answer.error.kind, answer.error.permanent) == ("not_finite", True)
            assert "-B dtype=float32" in answer.error.message


class TestLoading:
    def test_weights_that_are_missing_are_not_made_up(self, tiny: Tiny, make: Make) -> None:
        path = tiny()
        weights = weights_of(path)
        del weights["model.layers.1.mlp.up_proj.weight"]
        save_weights(path, weights)
        with pytest.raises(ComponentError, match=r"lacks 1 of the weights.*layers\.1\.mlp\.up_proj.*would be random"):
            make(path).prepare()

    def test_weights_of_another_shape(self, tiny: Tiny, make: Make) -> None:
        path = tiny()
        weights = weights_of(path)
        weights["model.norm.weight"] = torch.ones(7)
        save_weights(path, weights)
        self._fails_in_one_line(make(path))

    @pytest.mark.parametrize("name", ["model.safetensors", "config.json", "tokenizer.json"])
    @pytest.mark.parametrize("kept", [0, 4, 0.5])
    def test_a_damaged_file_is_one_line(self, tiny: Tiny, make: Make, name: str, kept: float) -> None:
        path = tiny() / name
        data = path.read_bytes()
        path.write_bytes(data[: int(kept if kept > 1 else kept * len(data))])
        self._fails_in_one_line(make(path.parent))

    def _fails_in_one_line(self, backend: HuggingFace) -> None:
        with pytest.raises(ComponentError, match="transformers cannot load tiny: ") as caught:
            backend.prepare()
        assert "\n" not in str(caught.value)
        assert "get them again" in str(caught.value)

    def test_an_unknown_architecture(self, tiny: Tiny, make: Make) -> None:
        path = tiny()
        config = json.loads((path / "config.json").read_text())
        (path / "config.json").write_text(json.dumps({**config, "model_type": "lemma"}))
        with pytest.raises(ComponentError, match=r"lemma.*update transformers") as caught:
            make(path).prepare()
        assert "\n" not in str(caught.value)

    def test_code_that_comes_along_is_not_run(self, tiny: Tiny, make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
        path = tiny()
        config = json.loads((path / "config.json").read_text())
        own = {"model_type": "own", "auto_map": {"AutoConfig": "own.Own", "AutoModelForCausalLM": "own.Model"}}
        (path / "config.json").write_text(json.dumps({**config, **own}))
        ran = path / "ran"
        (path / "own.py").write_text(
            f"from pathlib import Path\nPath({str(ran)!r}).touch()\n"
            "from transformers import LlamaConfig, LlamaForCausalLM\n"
            "class Own(LlamaConfig):\n    model_type = 'own'\n"
            "class Model(LlamaForCausalLM):\n    config_class = Own\n"
        )
        with pytest.raises(ComponentError, match=r"Python code.*-B trust_remote_code=true") as caught:
            make(path).prepare()
        assert "\n" not in str(caught.value)
        assert not ran.exists()
        monkeypatch.setattr(transformers.dynamic_module_utils, "HF_MODULES_CACHE", str(path.parent / "modules"))
        assert make(path, trust_remote_code=True).prepare().architecture == "own"
        assert ran.exists()

    def test_pickled_weights(self, tiny: Tiny, make: Make, ask: Ask, requests: type) -> None:
        path = tiny()
        asked = requests([ask("one", max_tokens=5)])
        expected = [answer.text for answer in make(path).run(asked)]
        torch.save(weights_of(path), path / "pytorch_model.bin")
        (path / "model.safetensors").unlink()
        with pytest.raises(ComponentError, match="use_safetensors=false"):
            make(path).prepare()
        assert [answer.text for answer in make(path, use_safetensors=False).run(asked)] == expected

    def test_models_that_do_not_read_from_left_to_right(self, tiny: Tiny, make: Make) -> None:
        with pytest.raises(ComponentError, match="does not read from left to right"):
            make(tiny(architecture="bert")).prepare()

    def test_models_with_an_encoder(self, tiny: Tiny, make: Make) -> None:
        path = tiny()
        transformers.T5Config(num_layers=1, d_model=8, d_ff=8, d_kv=4, num_heads=2).save_pretrained(path)
        with pytest.raises(ComponentError, match="is not a decoder-only language model"):
            make(path).prepare()

    def test_not_enough_memory(self, tiny: Tiny, make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
        def refuse(*_: Any, **__: Any) -> None:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 GiB.")

        monkeypatch.setattr(transformers.AutoModelForCausalLM, "from_pretrained", refuse)
        with pytest.raises(ComponentError, match=r"not enough memory to load tiny; .*-B device_map=auto"):
            make(tiny()).prepare()

    def test_a_gpu_that_is_not_there(self, tiny: Tiny, make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
        """C85: before anything is loaded, or even looked for."""
        monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
        monkeypatch.delattr(backend_module, "load")
        monkeypatch.delattr(backend_module, "find_source")
        with pytest.raises(ComponentError, match="leave out -B device=cuda to use the CPU"):
            make(tiny(), device="cuda").fingerprint()


_SCRIPT = """
import sys
from biasfw import BackendSettings, BiasfwError, ChoiceText, Request, Sampling
from biasfw_plugins.hf.backend import HuggingFace

class Requests(list):
    lengths = prefixes = [1, 1]

for folder in sys.argv[1:]:
    backend = HuggingFace(BackendSettings(folder, "choices"))
    try:
        backend.prepare()
    except BiasfwError:
        continue
    choices = (ChoiceText("a", "x"), ChoiceText("b", "yy"))
    chosen = Request("0" * 64, "i", Sampling(), prompt="Q", choices=choices)
    said = Request("1" * 64, "i", Sampling(max_tokens=9), prompt="Q")
    assert all(answer.error is None for answer in backend.run(Requests([chosen, said])))
    backend.close()
"""


@pytest.mark.parametrize("debug", [False, True])
def test_says_nothing_on_the_terminal_unless_debugging(tiny: Tiny, debug: bool) -> None:
    """Mamba on a CPU, a model that lacks weights and one with weights too many are what transformers warns of."""
    folders = [tiny(), tiny("recurrent", architecture="mamba"), tiny("lacking"), tiny("more")]
    weights = weights_of(folders[0])
    save_weights(folders[2], {name: weights[name] for name in list(weights)[1:]})
    save_weights(folders[3], {**weights, "more.weight": torch.ones(3)})
    done = _python(_SCRIPT, *map(str, folders), **({"BIASFW_DEBUG": "1"} if debug else {}))
    assert debug == bool(done.stderr)
    assert debug or done.stdout == ""
