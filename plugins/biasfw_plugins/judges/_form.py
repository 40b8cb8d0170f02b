"""The closed list a judge's model chooses from: the benchmark's labels or options, ``unclear`` and ``refused``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from biasfw import ComponentContext, Form, Item, Label, Outcome, Reading, Slot

UNCLEAR, REFUSED = "unclear", "refused"
_CHOICE = "CHOICE"


@dataclass(frozen=True, slots=True)
class JudgeForm:
    """The answer that a judge's model is asked for. ``shown``: label key -> displayed name, in the order of the prompt.

    Under task ``choice`` the keys are places (``0``, ``1``, ...) among the options as presented.
    """

    form: Form
    headers: Mapping[str, str]
    shown: Mapping[str, str]
    english: Mapping[str, str]
    by_place: bool
    letters: tuple[str, ...] = ()

    @property
    def slots(self) -> tuple[str, ...]:
        """The slots of the benchmark's form."""
        return tuple(self.headers)

    def displayed(self, item: Item) -> dict[str, str]:
        """Key -> name of everything that can be answered about ``item``."""
        offered = {key: name for key, name in self.shown.items() if not self.by_place or int(key) < len(item.order)}
        return {**offered, UNCLEAR: UNCLEAR, REFUSED: REFUSED}

    def labels(self, item: Item) -> list[dict[str, str]]:
        """The labels for a prompt: ``name``, and ``english`` where that says more."""
        return [
            {"name": name, "english": self.english.get(key, "")}
            for key, name in self.displayed(item).items()
            if key not in (UNCLEAR, REFUSED)
        ]

    def options(self, item: Item) -> list[dict[str, str]]:
        """The options of a choice item for a prompt: ``letter`` and ``text``, as presented."""
        if not self.by_place:
            return []
        texts = {choice.key: choice.text for choice in item.choices}
        return [
            {"letter": self.shown[key], "text": texts[item.order[int(key)]]}
            for key in self.shown
            if int(key) < len(item.order)
        ]

    def reading(self, value: str | None, item: Item) -> Reading:
        """What a label key of this form means for the benchmark."""
        if value is None or (self.by_place and value.isdigit() and int(value) >= len(item.order)):
            return Reading(Outcome.JUDGE_UNPARSED)
        if value == REFUSED:
            return Reading(Outcome.REFUSED)
        if value == UNCLEAR:
            return Reading(Outcome.ABSTAINED, UNCLEAR)
        abstains = {label.key for label in self.form.labels if label.abstains}
        key = item.order[int(value)] if self.by_place else value
        return Reading(Outcome.ABSTAINED if key in abstains else Outcome.ANSWERED, key)


def forms(context: ComponentContext, language: str, condition: str) -> JudgeForm:
    """The form for responses in ``language`` under ``condition``, as the options of the judge say."""
    by_place = context.form.task == "choice"
    keys, shown, english, labels = [], {}, {}, []
    for place, label in enumerate(context.form.labels):
        key = str(place) if by_place else label.key
        keys.append(key)
        native, in_english = label.name(language), label.name("en")
        wanted = context.options.get("names", "both")
        shown[key] = in_english if wanted == "english" else native
        if wanted == "both" and native != in_english and not by_place:
            english[key] = in_english
        names = [name for tag in (language, language.partition("-")[0], "en") for name in label.names.get(tag, ())]
        labels.append(Label(key, {"en": tuple(dict.fromkeys(names)) or (label.key,)}, label.abstains))
    if context.options.get("label_order") == "reversed":
        shown = dict(reversed(shown.items()))
    labels += [Label(UNCLEAR, {"en": (UNCLEAR,)}, abstains=True), Label(REFUSED, {"en": (REFUSED,)})]
    headers = {slot.key: _header(slot, condition, by_place=by_place) for slot in context.form.slots}
    slots = tuple(
        Slot(key, {"": {"en": tuple(dict.fromkeys((header, key.upper())))}}) for key, header in headers.items()
    )
    form = Form("labels", slots, tuple(labels), languages=("en",), conditions=("",))
    return JudgeForm(form, headers, shown, english, by_place)


def _header(slot: Slot, condition: str, *, by_place: bool) -> str:
    return _CHOICE if by_place else slot.header(condition, "en")
