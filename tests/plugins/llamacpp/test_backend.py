from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from biasfw import Backend, BackendSettings, BiasfwError, ComponentError, Request, Response
from biasfw_plugins import llamacpp

pytest.importorskip("biasfw_plugins.llamacpp.native", reason="needs the extra llamacpp")

from biasfw_plugins.llamacpp import backend as backend_module
from biasfw_plugins.llamacpp import schedule as schedule_module
from biasfw_plugins.llamacpp.backend import LlamaCpp
from biasfw_plugins.llamacpp.context import Context, DecodeError

pytestmark = pytest.mark.model

Ask = Callable[..., Request]
Tiny = Callable[..., Path]
Make = Callable[..., LlamaCpp]
PAIRS = [f"A: {x}\nB: {y}\n" for x in "pqr" for y in "pqr" if x != y]


def answered(backend: LlamaCpp, asked: Sequence[Request]) -> list[Response]:
    """The answers in the order of ``asked``, a request sequence."""
    by_key = {answer.key: answer for answer in backend.run(asked)}  # type: ignore[arg-type]
    assert len(by_key) == len(asked)
    return [by_key[request.key] for request in asked]


@pytest.fixture
def make() -> Iterator[Make]:
    """Build backends; all are closed when the test ends."""
    made: list[LlamaCpp] = []

    def build(path: Path, mode: Any = "generate", **options: Any) -> LlamaCpp:
        made.append(LlamaCpp(BackendSettings(str(path), mode, options={"n_threads": 1, **options})))
        return made[-1]

    yield build
    for each in made:
        each.close()


class TestSpec:
    def test_is_what_it_says(self) -> None:
        (spec,) = llamacpp.biasfw_backends()
        assert (spec.name, spec.load, spec.extra) == ("llamacpp", f"{LlamaCpp.__module__}:LlamaCpp", "llamacpp")
        assert spec.capabilities == {"generate", "choices"}
        assert isinstance(LlamaCpp(BackendSettings(None, "generate")), Backend)

    def test_options(self) -> None:
        schema = dict(next(iter(llamacpp.biasfw_backends())).options)
        validator = jsonschema.validators.validator_for(schema, default=jsonschema.Draft202012Validator)
        validator.check_schema(schema)
        check = validator(schema)
        assert check.is_valid({"n_ctx": 4096, "n_threads": 2, "n_batch": 256, "n_gpu_layers": -1, "parallel": 16})
        for bad in (
            {"n_ctx": 0},
            {"n_threads": "all"},
            {"n_batch": 1},
            {"n_gpu_layers": -2},
            {"parallel": 0},
            {"nctx": 1},
        ):
            assert not check.is_valid(bad)
        assert all(option["description"].endswith(".") for option in schema["properties"].values())

    def test_offering_it_loads_no_library(self) -> None:
        code = "import sys, biasfw_plugins.llamacpp as p; list(p.biasfw_backends()); print('llama_cpp' in sys.modules)"
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
        assert done.stdout.strip() == "False"

    @pytest.mark.parametrize("own", [None, "50"])
    def test_the_environment_is_left_as_it_was(self, own: str | None) -> None:
        code = "import os, biasfw_plugins.llamacpp.native; print(os.environ.get('GOMP_SPINCOUNT'))"
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        environment |= {"GOMP_SPINCOUNT": own} if own else {}
        done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
        assert done.stdout.strip() == str(own)


class TestIdentity:
    def test_says_what_was_loaded(self, tiny: Tiny, make: Make) -> None:
        path = tiny()
        backend = make(path)
        identity = backend.prepare()
        assert identity.fingerprint == backend.fingerprint()
        assert (identity.model, identity.architecture, identity.quantisation) == ("tiny.gguf", "llama", "F32")
        assert (identity.device, identity.notes) == ("cpu", ())
        assert identity.template_sha256 is not None
        assert identity.details["n_ctx_train"] == 512
        assert "llama-cpp-python" in identity.libraries
        assert str(path.parent) not in repr(identity)

    def test_fingerprint_loads_nothing(self, tiny: Tiny, make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delattr(backend_module, "Model")
        assert make(tiny()).fingerprint().startswith("sha256:")

    def test_a_replaced_file_has_another_fingerprint(self, tiny: Tiny, make: Make) -> None:
        backend = make(tiny())
        before = backend.fingerprint()
        tiny(add_bos=False)
        assert backend.fingerprint() != before

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


class TestRun:
    def test_answers_each_request_once(self, tiny: Tiny, make: Make, ask: Ask, requests: type) -> None:
        asked = requests([ask("one", max_tokens=4), ask("two", choices=PAIRS), ask(raw="three", max_tokens=4)])
        answers = answered(make(tiny()), asked)
        assert [answer.key for answer in answers] == [request.key for request in asked]
        assert all(answer.error is None and answer.seconds is not None for answer in answers)
        assert [score.key for score in answers[1].choice_logprobs] == [str(number) for number in range(len(PAIRS))]
        assert answers[0].prompt_tokens is not None
        assert answers[0].finish_reason in ("stop", "length")

    def test_nothing_asked_nothing_answered(self, tiny: Tiny, make: Make, requests: type) -> None:
        assert list(make(tiny()).run(requests())) == []

    @pytest.mark.parametrize("mode", ["generate", "choices"])
    def test_an_answer_depends_on_nothing_but_its_request(
        self, tiny: Tiny, make: Make, ask: Ask, requests: type, mode: str
    ) -> None:
        options: dict[str, Any] = {"choices": PAIRS} if mode == "choices" else {"temperature": 1.0, "max_tokens": 20}
        asked = [ask("word " * length, **options) for length in (3, 60, 1, 20)]

        def answers(order: Sequence[Request], **settings: Any) -> dict[str, tuple[Any, ...]]:
            made = make(tiny(), mode, **settings).run(requests(order))
            return {answer.key: (answer.text, answer.choice_logprobs, answer.error) for answer in made}

        expected = answers(asked)
        assert all(error is None for _, _, error in expected.values())
        assert answers(asked[::-1]) == expected
        assert answers(asked[:1]) | answers(asked[1:]) == expected  # another context size, as after an interruption
        assert answers(asked, n_ctx=512) == expected
        assert answers(asked, n_threads=2) == expected

    def test_an_interruption_leaves_the_backend_usable(
        self, tiny: Tiny, make: Make, ask: Ask, requests: type, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        asked = requests([ask("one", choices=PAIRS), ask("two", temperature=1.0, max_tokens=9)])
        backend = make(tiny())
        expected = [(answer.text, answer.choice_logprobs) for answer in backend.run(asked)]
        decode, calls = Context.decode, iter(range(100))

        def interrupted(self: Context, tokens: Sequence[int], position: int, **options: Any) -> None:
            decode(self, tokens, position, **options)
            if next(calls) == 3:
                raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(Context, "decode", interrupted)
            with pytest.raises(KeyboardInterrupt):
                list(backend.run(asked))
        assert [(answer.text, answer.choice_logprobs) for answer in backend.run(asked)] == expected
        backend.close()
        backend.close()
        assert [(answer.text, answer.choice_logprobs) for answer in backend.run(asked)] == expected

    def test_only_a_window_of_requests_is_read(
        self, tiny: Tiny, make: Make, ask: Ask, requests: type, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(schedule_module, "_WINDOW", 200)
        asked = requests(ask(f"{number:3}", max_tokens=2) for number in range(100))
        next(iter(make(tiny()).run(asked)))
        assert asked.reads < 30

    def test_the_context_grows_when_characters_mislead(self, tiny: Tiny, make: Make, ask: Ask, requests: type) -> None:
        """Ten long texts of few tokens hide a short one of many."""
        path = tiny(pieces=("a" * 2, "a" * 4, "a" * 8, "a" * 16, "a" * 32))
        long = [ask("a" * 1000 + str(number), max_tokens=5) for number in range(10)]
        answers = answered(make(path), requests([*long, ask("b" * 400, max_tokens=5)]))
        assert all(answer.error is None for answer in answers)
        assert (answers[0].prompt_tokens or 0) < 100 < (answers[-1].prompt_tokens or 0)


class TestErrors:
    def _one(self, backend: LlamaCpp, requests: type, *asked: Request) -> list[Response]:
        return answered(backend, requests(asked))

    @pytest.mark.parametrize(
        ("option", "limit", "way_out"), [({"n_ctx": 100}, 100, "-B n_ctx="), ({}, 512, "trained for no more")]
    )
    def test_a_context_too_small(
        self, tiny: Tiny, make: Make, ask: Ask, requests: type, option: dict[str, int], limit: int, way_out: str
    ) -> None:
        backend = make(tiny(), **option)
        long, fits = ask("x" * limit, max_tokens=8), ask("x", max_tokens=8)
        chosen = ask("x" * limit, choices=["y", "z"])
        first, second, third = self._one(backend, requests, long, fits, chosen)
        for failed in (first, third):
            assert failed.error is not None
            assert (failed.error.kind, failed.error.permanent) == ("context_too_small", True)
            assert f"the context holds {limit}" in failed.error.message
            assert way_out in failed.error.message
        assert second.error is None

    def test_room_for_the_answer_counts(self, tiny: Tiny, make: Make, ask: Ask, requests: type) -> None:
        backend = make(tiny(), n_ctx=100)
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

    def test_a_refused_batch_may_be_asked_again(
        self, tiny: Tiny, make: Make, ask: Ask, requests: type, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def refuse(*_: Any, **__: Any) -> None:
            raise DecodeError("llama_decode failed with code 1")

        monkeypatch.setattr(Context, "decode", refuse)
        (answer,) = self._one(make(tiny()), requests, ask("Hi"))
        assert answer.error is not None
        assert (answer.error.kind, answer.error.permanent) == ("decode_failed", False)

    def test_zero_log_probabilities_stop_the_run(
        self, tiny: Tiny, make: Make, ask: Ask, requests: type, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def zeros(_: Any, __: int, work: Any) -> list[list[float]]:
            return [[0.0] * (len(sequence) - work.start) for sequence in work.sequences]

        monkeypatch.setattr(schedule_module, "score", zeros)
        with pytest.raises(ComponentError, match="returns no log-probabilities"):
            self._one(make(tiny()), requests, ask("Hi", choices=["a", "b"]))

    def test_a_gpu_that_is_not_there(self, tiny: Tiny, make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(backend_module, "can_use_gpu", lambda: False)
        monkeypatch.delattr(backend_module, "Model")
        with pytest.raises(ComponentError, match="without GPU support; leave out -B n_gpu_layers"):
            make(tiny(), n_gpu_layers=-1).fingerprint()

    @pytest.mark.parametrize("kept", [4, 24, 500, 0.5, 0.999])
    def test_a_damaged_file_is_one_line(self, tiny: Tiny, make: Make, kept: float) -> None:
        path = tiny()
        data = path.read_bytes()
        path.write_bytes(data[: int(kept if kept > 1 else kept * len(data))])
        with pytest.raises(BiasfwError, match=r"llama\.cpp cannot load") as caught:
            make(path).prepare()
        assert "\n" not in str(caught.value)
        assert "no reason given" not in str(caught.value)

    def test_an_unknown_architecture(self, tiny: Tiny, make: Make) -> None:
        path = tiny()
        path.write_bytes(path.read_bytes().replace(b"llama", b"lemma"))
        with pytest.raises(ComponentError, match=r"unknown model architecture: 'lemma'.*update llama-cpp-python"):
            make(path).prepare()


_SCRIPT = """
import sys
from pathlib import Path
from biasfw import BackendSettings, BiasfwError, ChoiceText, Request, Sampling
from biasfw_plugins.llamacpp.backend import LlamaCpp

class Requests(list):
    lengths = prefixes = [1]

good, bad = sys.argv[1:]
backend = LlamaCpp(BackendSettings(good, "choices"))
backend.prepare()
request = Request("0" * 64, "i", Sampling(), prompt="Q", choices=(ChoiceText("a", "x"), ChoiceText("b", "y")))
assert all(answer.error is None for answer in backend.run(Requests([request])))
backend.close()
try:
    LlamaCpp(BackendSettings(bad, "choices")).prepare()
except BiasfwError:
    pass
"""


@pytest.mark.parametrize("debug", [False, True])
def test_llama_cpp_is_silent_unless_debugging(tiny: Tiny, debug: bool) -> None:
    good, bad = tiny(), tiny("bad.gguf")
    bad.write_bytes(bad.read_bytes()[:1000])
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    if debug:
        environment["BIASFW_DEBUG"] = "1"
    done = subprocess.run(
        [sys.executable, "-c", _SCRIPT, str(good), str(bad)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout == ""
    assert ("llama_context" in done.stderr) == debug
    assert debug or done.stderr == ""
