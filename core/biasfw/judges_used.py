"""What run.json tells of the judges: their options, models and members, and which of them are not independent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from biasfw.agreement import PanelRule, pairs_of
from biasfw.errors import UsageError
from biasfw.families import families
from biasfw.keys import canonical
from biasfw.phrases import listed
from biasfw.verdicts import JudgedRun

_ORDER, _AS_LISTED = "label_order", "listed"  # the option of a judge that turns the labels in its prompt round
_FAVOUR = "; judges tend to favour their own kind"


def definition(run: JudgedRun, name: str) -> Mapping[str, Any]:
    """The judge as run.json has it; empty for one that was stored without."""
    entry = run.info.get("judges", {}).get(name, {})
    found = entry.get("definition", {})
    return found if isinstance(found, Mapping) else {}


def stated_rules(run: JudgedRun, panel: str) -> list[PanelRule]:
    """The rule that a panel says it follows, if it is one of votes."""
    options = definition(run, panel).get("options", {})
    if options.get("rule") not in ("majority", "unanimous", None):
        return []
    quorum = options.get("quorum")
    return [PanelRule(options.get("rule") or "majority", quorum if isinstance(quorum, int) else 0)]


def contains(run: JudgedRun, first: str, second: str) -> bool:
    """Whether one of the two judges is a member of the other."""
    judges = run.info.get("judges", {})
    return any(
        other in judges.get(panel, {}).get("members", {}).values()
        for panel, other in ((first, second), (second, first))
    )


def swapped_pairs(run: JudgedRun, given: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Pairs of judgements that differ in the order of the labels alone: those given, and those that run.json tells."""
    names = [verdicts.name for verdicts in run.verdicts]
    for name in (name for pair in given for name in pair):
        if name not in names:
            raise UsageError(f"no judgements {name!r} in {run.path}; there are: {', '.join(names)}")
    found = list(given)
    for first, second in ((names[a], names[b]) for a, b in pairs_of(names)):
        if {first, second} in [set(pair) for pair in found]:
            continue
        one, other = (_without_order(definition(run, name)) for name in (first, second))
        orders = [definition(run, name).get("options", {}).get(_ORDER, _AS_LISTED) for name in (first, second)]
        if one and one == other and orders[0] != orders[1]:
            found.append((first, second))
    return found


def _without_order(definition: Mapping[str, Any]) -> dict[str, Any]:
    options = {name: value for name, value in definition.get("options", {}).items() if name != _ORDER}
    kept = {key: value for key, value in definition.items() if key not in ("name", "options")}
    return {**kept, **({"options": options} if options else {})}


def same_judges(run: JudgedRun, swapped: Sequence[tuple[str, str]]) -> list[str]:
    """Warnings of judges that are there several times: one judge in two versions is not two judges."""
    undefined = {each.judge for each in run.verdicts if not definition(run, each.name)}
    found: dict[str, list[str]] = {}
    for each in run.verdicts:
        known = canonical(_without_order(definition(run, each.name)))
        found.setdefault(each.judge if each.judge in undefined else known, []).append(each.name)
    turned = [set(pair) for pair in swapped]
    warnings = []
    for names in (names for names in found.values() if len(names) > 1):
        how = "with its labels in two orders" if set(names) in turned else "several times"
        warnings.append(f"{listed(names)} are one judge {how}, counted as several; choose with --judge")
    return warnings


def models(run: JudgedRun, name: str) -> set[str]:
    """The names of the models that judge ``name`` or its members ask."""
    entry = run.info.get("judges", {}).get(name, {})
    defined = definition(run, name)
    identity = entry.get("identity") or {}
    named = [identity.get("model"), defined.get("model")]
    named += [member.get("model") for member in defined.get("members", ()) if isinstance(member, Mapping)]
    found = {model for model in named if isinstance(model, str) and model}
    for member in entry.get("members", {}).values():
        found |= models(run, member) if member != name else set()
    return found


def of_one_family(run: JudgedRun) -> list[str]:
    """Judges that share a family with the subject, by the names of the models."""
    subject = [run.info.get("identity", {}).get("model"), run.info["config"].get("model")]
    own = {family for name in subject if isinstance(name, str) for family in families(name)}
    warnings = []
    for verdicts in run.verdicts:
        for model in sorted(models(run, verdicts.name)):
            shared = sorted(own & families(model))
            if model in subject:
                warnings.append(f"judge {verdicts.name}: {model} judges its own answers{_FAVOUR}")
            elif shared:
                kin = f"{model} and the model under test ({subject[0] or subject[1]}) are of one family"
                warnings.append(f"judge {verdicts.name}: {kin}, {', '.join(shared)}{_FAVOUR}")
    return warnings
