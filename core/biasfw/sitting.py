"""The judges of a run at work: what each is called, what it was built from, and where its verdicts lie."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

from biasfw.codec import encode
from biasfw.contracts import Case, ComponentContext, Judge, Panel, Parser
from biasfw.form import Form
from biasfw.jsonlines import JsonLines
from biasfw.juries import Binding, Seat
from biasfw.keys import canonical, sha256_json
from biasfw.languages import LanguagePack
from biasfw.plan import Plan
from biasfw.plugins import Plugins, load_class
from biasfw.records import Answer, Mode, Outcome, Reading, Request, Response
from biasfw.rendering import request_key
from biasfw.schemas import check_options


@dataclass
class JudgeAnswers:
    """What a judge's model was asked, and what it said; has the part of a run directory that asking needs."""

    folder: Path
    references: dict[str, Mapping[str, str]] = field(default_factory=dict)  # for the reference backend, in memory

    def __post_init__(self) -> None:
        self.requests = JsonLines(self.folder / "requests.jsonl", "request")
        self.responses = JsonLines(self.folder / "responses.jsonl", "response")
        self.failures = JsonLines(self.folder / "failures.jsonl", "response", last_wins=True)

    @property
    def files(self) -> tuple[JsonLines, JsonLines, JsonLines]:
        """All three files."""
        return self.requests, self.responses, self.failures

    def open(self) -> list[str]:
        """Open the files for writing; what had to be repaired."""
        self.folder.mkdir(parents=True, exist_ok=True)
        return [repair for file in self.files for repair in file.open(write=True).repairs]

    def close(self) -> None:
        """Close the files."""
        for file in self.files:
            file.close()

    def add(self, request: Request) -> None:
        """Store a request unless it is there."""
        if request.key not in self.requests.index:
            self.requests.append(request.key, encode(request))

    def store(self, response: Response) -> None:
        """Append a response: final ones and failed attempts lie apart."""
        target = self.responses if response.error is None else self.failures
        target.append(response.key, encode(response))


@dataclass
class Leaf:
    """A judge that judges itself, with its name and hash; ``store`` holds its verdicts."""

    seat: Seat
    name: str
    store: JsonLines
    judge: Judge
    fingerprint: str | None = None

    @property
    def everybody(self) -> Iterator[Sitting]:
        """This judge."""
        yield self

    @property
    def entry(self) -> dict[str, Any]:
        """What run.json keeps of it."""
        known = {"fingerprint": self.fingerprint} if self.fingerprint is not None else {}
        withheld = {"withheld": sorted(self.seat.withheld)} if self.seat.withheld else {}
        return {"definition": self.seat.kept, **known, **withheld}


@dataclass
class ModelLeaf(Leaf):
    """A judge that asks a model."""

    binding: Binding = field(kw_only=True)
    answers: JudgeAnswers = field(kw_only=True)


@dataclass
class Bench:
    """A panel: its verdict is made of those of its members."""

    seat: Seat
    name: str
    store: JsonLines
    panel: Panel
    members: tuple[Sitting, ...]

    @property
    def everybody(self) -> Iterator[Sitting]:
        """This panel, its members, and theirs."""
        yield self
        for member in self.members:
            yield from member.everybody

    @property
    def entry(self) -> dict[str, Any]:
        """What run.json keeps of it."""
        members = {member.seat.name: member.name for member in self.members}
        return {"definition": self.seat.kept, "members": members}


Sitting = Leaf | Bench


def questions(leaf: ModelLeaf, case: Case) -> list[Request]:
    """What the judge wants to know about a case, with keys."""
    return [replace(request, key=request_key(request)) for request in leaf.judge.requests(case)]


def questions_per_response(plan: Plan, seat: Seat) -> int:
    """How many questions a judge has about a response in which something is written. No model is looked at."""
    trial = plan.selected.trials[0]
    request = plan.renderer.request(trial)
    nothing = Answer({slot.key: Reading(Outcome.UNPARSED) for slot in plan.form.slots})
    judge = cast("Judge", _built(plan, seat))
    return len(
        judge.requests(Case(trial.item, request, Response(request.key, text="-", finish_reason="stop"), nothing))
    )


def asking(sitting: Sitting) -> Iterator[ModelLeaf]:
    """The judges that ask a model."""
    return (each for each in sitting.everybody if isinstance(each, ModelLeaf))


def entries(sitting: Sitting, known: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """What run.json keeps of all of them, by name and hash, added to what is ``known`` there."""
    return {**known, **{each.name: {**known.get(each.name, {}), **each.entry} for each in sitting.everybody}}


def sit(plan: Plan, folder: Path, known: Mapping[str, Any]) -> Sitting:
    """The judges of a plan, built. ``known``: what ``fingerprints`` gives, used instead of looking at the models.

    Raises:
        BiasfwError: a judge's model is not there; the message says how to get it.
    """
    return _sit(plan, plan.jury, folder, dict(known))


def fingerprints(info: Mapping[str, Any]) -> dict[str, Any]:
    """The fingerprints that run.json remembers, by canonical definition."""
    found = info.get("judges", {}).values()
    return {canonical(e["definition"]): e["fingerprint"] for e in found if e.get("fingerprint")}


def _sit(plan: Plan, seat: Seat, folder: Path, known: dict[str, Any]) -> Sitting:
    spec, binding = seat.component.spec, seat.binding
    covered: list[Any] = [spec.name, seat.component.plugin.origin, dict(seat.options)]
    if seat.members:
        members = tuple(_sit(plan, member, folder, known) for member in seat.members)
        covered.append(sorted([member.seat.name, member.name] for member in members))
        name = _name(seat, covered)
        return Bench(seat, name, _verdicts(folder, name), cast("Panel", _built(plan, seat)), members)
    parser = plan.plugins.find("parser", seat.parser) if seat.parser else plan.parser
    packs = {tag: encode(replace(pack, fixtures=())) for tag, pack in plan.packs.items()}
    covered += [parser.spec.name, parser.plugin.origin, plan.protocol.mode, encode(plan.form), packs]
    judge = cast("Judge", _built(plan, seat))
    if binding is None:
        name = _name(seat, covered)
        return Leaf(seat, name, _verdicts(folder, name), judge)
    fingerprint = _fingerprint(plan, seat, binding, known)
    name = _name(seat, [*covered, binding.identity, fingerprint, plan.bundle.manifest.get("judge_templates")])
    answers = JudgeAnswers(folder / "judge-responses" / name)
    return ModelLeaf(seat, name, _verdicts(folder, name), judge, fingerprint, binding=binding, answers=answers)


def _name(seat: Seat, covered: list[Any]) -> str:
    return f"{seat.name}-{sha256_json(covered)[:8]}"


def _verdicts(folder: Path, name: str) -> JsonLines:
    return JsonLines(folder / "judgements" / f"{name}.jsonl", "judgement")


def _fingerprint(plan: Plan, seat: Seat, binding: Binding, known: dict[str, Any]) -> str:
    remembered = known.get(canonical(seat.kept))
    if remembered is not None:
        return str(remembered)
    model = canonical(binding.whole)
    if model not in known:
        known[model] = binding.make(plan.config.seed).fingerprint()
    return str(known[model])


def _built(plan: Plan, seat: Seat) -> Any:
    texts = plan.bundle.manifest.get("judge_templates", {})
    mode = seat.binding.mode if seat.binding else "generate"
    return load_class(seat.component)(judge_context(plan.plugins, plan.form, plan.packs, seat.options, texts, mode))


def judge_context(
    plugins: Plugins,
    form: Form,
    packs: Mapping[str, LanguagePack],
    options: Mapping[str, Any],
    texts: Mapping[str, Mapping[str, str]],
    mode: Mode,
) -> ComponentContext:
    """What a judge is built from; it can have parsers for forms of its own."""

    def parser(name: str, own: Form, given: Mapping[str, Any]) -> Parser:
        component = plugins.find("parser", name)
        checked = check_options(f"parser {name}", component.spec.options, given)
        return cast("Parser", load_class(component)(ComponentContext(own, packs, checked)))

    return ComponentContext(form, packs, options, parser, texts, mode)


def open_stores(sitting: Sitting) -> list[str]:
    """Open the files of verdicts and of models' answers; what had to be repaired."""
    repairs: list[str] = []
    for each in sitting.everybody:
        each.store.path.parent.mkdir(exist_ok=True)
        repairs += each.store.open(write=True).repairs
        if isinstance(each, ModelLeaf):
            repairs += each.answers.open()
    return repairs


def close_stores(sitting: Sitting) -> None:
    """Close what ``open_stores`` opened."""
    for each in sitting.everybody:
        each.store.close()
        if isinstance(each, ModelLeaf):
            each.answers.close()
