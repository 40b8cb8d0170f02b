"""The headline of a run: its primary score with interval, chance and, where the question is the same, people."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from markupsafe import Markup

from biasfw import Test
from biasfw_plugins.report.book import Ref
from biasfw_plugins.report.charts import CHANCE, HUMAN, Dot, dots
from biasfw_plugins.report.figures import View, by_likelihood, domain
from biasfw_plugins.report.texts import put, sentence, words


@dataclass(slots=True)
class Headline:
    """One primary score: ``alarms`` stand before it, ``chips`` are short remarks, ``told`` the lines under it."""

    name: str
    where: str
    ref: Ref
    chart: Markup
    chips: list[Any] = field(default_factory=list)
    told: list[Any] = field(default_factory=list)
    human: list[str] = field(default_factory=list)

    @property
    def chance(self) -> str:
        """What the line of chance is; empty where none is drawn."""
        test = _test_of(self.ref)
        if test is not None and test.null_mean is not None and not by_likelihood(self.ref):
            return "chance alone: its mean, and the end of 95 of 100 cases"
        return "chance" if self.ref.score.reference is not None else ""

    @property
    def point(self) -> str:
        """What is drawn of the score."""
        return "value" if self.ref.no_interval else "value and interval"


def _test_of(ref: Ref) -> Test | None:
    """The test of a score, unless it rests on too few observations to be held against chance."""
    return None if ref.bare else ref.score.test


def headlines(view: View) -> list[Headline]:
    """The primary scores over everything, in every condition with values, of all rows where they are given of all."""
    manifest = view.run.manifest
    primary = manifest["primary"]
    wanted = primary.get("slice", {})
    unvalued = {name for name, each in manifest["conditions"].items() if not each.get("valued", True)}
    found: dict[tuple[str, str], Ref] = {}
    for ref in view.book.refs:
        cut = ref.score.slice
        same = ref.score.metric == primary["metric"] and all(cut.get(k) == v for k, v in wanted.items())
        overall = set(cut) - set(wanted) <= {"condition", "scoring"}
        if same and overall and cut.get("condition") not in unvalued:
            way = (cut.get("condition", ""), cut.get("scoring", ""))
            if way not in found or ref.score.denominator == "all":
                found[way] = ref
    known = {condition for (condition, _), ref in found.items() if ref.score.value is not None}
    order = {name: place for place, name in enumerate(view.run.form.conditions)}
    ways = sorted(found, key=lambda way: (order.get(way[0], -1), way[1]))  # calibrated before raw
    # What cannot be calibrated is no headline beside what it was measured as.
    shown = [found[way] for way in ways if found[way].score.value is not None or way[0] not in known]
    return [_headline(view, ref) for ref in shown]


def _headline(view: View, ref: Ref) -> Headline:
    score = ref.score
    several = len(view.run.form.conditions) > 1
    where = [value for name, value in score.slice.items() if name != "condition" or several or "slot" in score.slice]
    human = view.human(score.metric) if len(score.slice) <= 1 else []
    made = Headline(
        words(score.metric), " · ".join(map(words, where)), ref, _chart(ref, human, grey=bool(alarms(view)))
    )
    rules = [each.text for each in view.book.file.cautions() if each.where == score.slice and not each.short]
    made.chips = [sentence(text) for text in (_remark(ref), _against_chance(ref), *rules) if text]
    made.told = _told(view, ref)
    made.human = [f"people, asked the same question: {value:g} % ({source})" for value, source in human]
    return made


def _remark(ref: Ref) -> str:
    """What a metric says against its value; that observations are few is said already where there is no interval."""
    said = [] if ref.score.value is None else (ref.score.reason or "").split("; ")
    against = ("position-locked", "not interpretable")  # alarms tell of these
    return "; ".join(
        part for part in said if not part.startswith(against) and not (ref.no_interval and part.startswith("only "))
    )


def _against_chance(ref: Ref) -> str:
    """Whether a distance is more than chance alone gives, where value and test are of the same thing."""
    test, value = _test_of(ref), ref.score.value
    if test is None or test.null_q95 is None or value is None or by_likelihood(ref):
        return ""
    return "more than chance alone gives" if value > test.null_q95 else "no more than chance alone gives"


def _told(view: View, ref: Ref) -> list[Any]:
    score, told = ref.score, []
    if score.reference is not None:
        told.append(put("chance: {}", ref.number("reference", unit=True)))
    test = _test_of(ref)
    if test is not None and by_likelihood(ref):
        told.append(put("by likelihood; the most likely answers alone: {}", ref.number("test.statistic", unit=True)))
    if test is not None and test.null_mean is not None:
        told.append(
            put(
                "with so few observations, chance alone gives {}; in 95 of 100 cases at most {}",
                ref.number("test.null_mean", unit=True),
                ref.number("test.null_q95", unit=True),
            )
        )
    if test is not None and test.p is not None:
        holm = put(" (Holm {})", ref.number("test.p_adjusted")) if test.p_adjusted is not None else ""
        told.append(put("p {}{}{} against: {}", "" if test.p < 0.001 else "= ", ref.number("test.p"), holm, test.null))
    if score.bounds is not None and None not in score.bounds and score.bounds[1] - score.bounds[0] > 1e-9:
        told.append(
            put(
                "whatever the missing answers had been: {} to {}",
                ref.number("bounds.0"),
                ref.number("bounds.1", unit=True),
            )
        )
    told.append(
        put(
            "n = {}, {} independent observation{}, of {} responses{}",
            ref.number("n"),
            ref.number("clusters"),
            "" if score.clusters == 1 else "s",
            score.denominator,
            ": too few to compare with chance" if ref.bare else "",
        )
    )
    macro = view.book.one(score.metric, score.denominator, average="macro", **score.slice)
    if macro is not None and macro.score.value is not None:
        told.append(put("mean over categories: {}{}", macro.number(unit=True), macro.around()))
    answered = view.book.one(score.metric, "answered", **score.slice)
    if answered is not None and answered.mark != ref.mark and answered.score.value is not None:
        told.append(put("of answered responses alone: {}{}", answered.number(unit=True), answered.around()))
    return told


def _chart(ref: Ref, human: list[tuple[float, str]], *, grey: bool) -> Markup:
    score = ref.score
    if score.value is None:
        return Markup()
    marks = [(at * ref.scale, CHANCE, "chance") for at in (score.reference,) if at is not None]
    test = _test_of(ref)
    if test is not None and test.null_mean is not None and not by_likelihood(ref):
        marks += [(at * ref.scale, CHANCE, "chance") for at in (test.null_mean, test.null_q95) if at is not None]
    marks += [(value, HUMAN, "people") for value, _ in human]
    points = [Dot(" ", ref.shown(score.value), ref.low, ref.high, grey)]
    return dots(
        points, f"{words(score.metric)} with its interval", domain=domain(points, marks), marks=marks, width=340
    )


@dataclass(frozen=True, slots=True)
class Alarm:
    """Why a headline says less than it seems to, or nothing; ``short`` stands beside the number in an overview."""

    short: str
    text: Any


def alarms(view: View) -> list[Alarm]:
    """What makes the headline say less than it seems to, or nothing."""
    found: list[Alarm] = []
    for ref in view.book.all("control_accuracy", "all", lambda cut: set(cut) <= {"condition"}):
        if (ref.score.reason or "").startswith("not interpretable"):
            found.append(Alarm("not interpretable", put("{} Right on the controls: {}{}.",
                sentence(ref.score.reason or "") + ".", ref.number(unit=True), ref.around()
            )))  # fmt: skip
    for ref in view.book.all("position_locked", "answered", lambda cut: "category" not in cut and "position" in cut):
        if ref.score.value is not None and ref.score.reason:
            text = put(
                "Position-locked: accuracy says nothing about bias. In {} of the pairs, position {} is picked "
                "whichever option stands there.",
                ref.number(unit=True),
                ref.score.slice["position"],
            )
            found.append(Alarm("position-locked", text))
    found += [Alarm(each.short, f"{sentence(each.text)}.") for each in view.book.file.against()]
    outcomes = view.book.file.document.get("outcomes", {})
    filled = sum(row.get(name, 0) for row in outcomes.values() for name in ("answered", "abstained"))
    total = sum(sum(row.values()) for row in outcomes.values())
    if total and 2 * filled < total:
        unread = (
            f"Most answers could not be used: {total - filled:,} of {total:,} slots are not answered. The numbers say "
            "little about the model."
        )
        found.append(Alarm("mostly not answered", unread))
    if view.run.info["status"] != "complete":
        status = view.run.info["status"]
        found.append(Alarm(status, f"The run is {status}: some responses are missing, and count as errors."))
    return found
