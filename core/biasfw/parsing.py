"""Any text through a parser, as a run would read it: what `biasfw parse` makes of one row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, cast

from biasfw import bundles, reading, reasons
from biasfw.answerform import make_form
from biasfw.bundles import Bundle
from biasfw.contracts import ComponentContext, Parser
from biasfw.errors import BiasfwError, DataError, UsageError
from biasfw.form import Form, Label, Slot
from biasfw.hedging import folded
from biasfw.languages import LanguagePack, load_packs
from biasfw.phrases import found_in_words, listed, shorten
from biasfw.plugins import FIRST_PARTY, Component, Plugins, load_class
from biasfw.records import Answer, Item, Outcome, Response
from biasfw.schemas import check_options
from biasfw.scripts import AnswerLanguages
from biasfw.specs import ParserSpec

_KINDS = 64  # forms and languages that are kept ready: rows may mix them without end
_OPTIONS = ("a", "b")  # of a row for a parser of choices that names none


@dataclass(frozen=True, slots=True)
class _Known:
    """What reads the rows of one form and language. ``shown``: label key -> the name that is printed."""

    form: Form
    shown: Mapping[str, str]
    parser: Parser
    languages: AnswerLanguages


class Texts:
    """Reads rows with one parser.

    A row is a mapping with ``text`` and, if wanted, ``language``, ``condition``, ``finish_reason``, and ``groups`` (the
    names that may be read) or ``choices`` (the options). Headers, and aliases of the groups, are those of ``bundle``;
    without ``groups`` the labels of the bundle may be read. ``note`` is called with what the user should know.
    """

    def __init__(
        self,
        parser: Component,
        plugins: Plugins,
        bundle: Bundle | None,
        *,
        language: str | None = None,
        condition: str | None = None,
        note: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._component, self._plugins, self._bundle, self._note = parser, plugins, bundle, note
        self._language = language or (bundle.manifest["languages"][0] if bundle else "en")
        self._conditions = tuple(bundle.manifest["conditions"]) if bundle else ("",)
        if condition is not None and condition not in self._conditions:
            raise UsageError(f"there is no condition {condition!r}; there are: {listed(self._conditions)}")
        usual = bundle.manifest["protocols"].get("generate", {}).get("conditions", ()) if bundle else ()
        self._condition = condition or (*usual, *self._conditions)[0]
        self._known = lru_cache(maxsize=_KINDS)(self._prepare)
        self._packs = lru_cache(maxsize=_KINDS)(self._load_packs)

    def read(self, row: Any) -> dict[str, Any]:
        """The reading of one row.

        Returns:
            ``outcome`` (of the whole answer: that of the first slot that is not filled, else ``abstained`` if any is,
            else ``answered``), ``value`` (slot -> name, null where the slot is not answered; for choices the option
            itself), ``outcomes`` per slot, and ``flags`` (for a slot that is unparsed with the reason).

        Raises:
            DataError: the row is not what the class describes; the message says what to write.
        """
        if not isinstance(row, Mapping):
            raise DataError(f'it is {found_in_words(row)}; every line is an object: {{"text": "..."}}')
        text = row.get("text")
        if not isinstance(text, str):
            what = f"`text` is {found_in_words(text)}" if "text" in row else "`text` is missing"
            raise DataError(f'{what}; every line is an object: {{"text": "..."}}')
        language = _word(row, "language") or self._language
        condition = _word(row, "condition") or self._condition
        if condition not in self._conditions:
            raise DataError(f"there is no condition {shorten(condition)}; there are: {listed(self._conditions)}")
        known = self._known(language, _names(row, "groups"), _names(row, "choices"))
        response = Response("", text=text, finish_reason=_word(row, "finish_reason"))
        answer = reading.read(response, Item("", "", language, "", "", condition), known.form, known.parser)
        written = known.languages.flags(text, language, condition)
        return _result(answer, known, (*reasons.why(text, answer, known.form, condition), *written))

    def _prepare(self, language: str, groups: tuple[str, ...] | None, choices: tuple[str, ...] | None) -> _Known:
        form, shown = self._form(language, groups, choices)
        packs = self._packs(language)
        spec = self._component.spec
        context = ComponentContext(form, packs, check_options(f"parser {spec.name}", spec.options, {}))
        return _Known(form, shown, load_class(self._component)(context), AnswerLanguages(form, packs))

    def _load_packs(self, language: str) -> Mapping[str, LanguagePack]:
        own = self._bundle.folder / "languages" if self._bundle else None
        folders = [folder for folder, _ in self._plugins.folders("language")]
        packs = load_packs(folders, [language, "en"], overrides=own if own and own.is_dir() else None)
        if language not in packs and language.partition("-")[0] not in packs:
            self._note(f"no language pack for {language!r}: its refusals and ways of writing are not recognised")
        return packs

    def _form(
        self, language: str, groups: tuple[str, ...] | None, choices: tuple[str, ...] | None
    ) -> tuple[Form, Mapping[str, str]]:
        """The answer form of a row, and the names that its labels are printed by."""
        name, tasks = self._component.spec.name, cast("ParserSpec", self._component.spec).tasks
        twice = [each for each, count in Counter(map(_folded, groups or choices or ())).items() if count > 1]
        if twice:
            raise DataError(f"the name {shorten(twice[0])} stands twice among the groups or choices; name each once")
        if groups is not None and choices is not None:
            raise DataError("`groups` and `choices` stand there both; give one of them")
        if choices is not None or (self._bundle is None and groups is None):
            if tasks and "choice" not in tasks:
                raise DataError(f"the parser {name} reads no choices; give `groups`, or name another parser")
            return _choices(language, choices)
        if tasks and "labels" not in tasks:
            raise DataError(f"the parser {name} reads no groups; give `choices`, or name another parser")
        if self._bundle is None:
            raise DataError("the headers of an answer are a benchmark's; name one with --benchmark")
        form = make_form(self._bundle.manifest, self._conditions, ())
        if groups is None:
            return form, {label.key: label.name(form.shown_in) for label in form.labels}
        labels = _grouped(form.labels, groups, language)
        return Form(form.task, form.slots, labels, languages=form.languages, conditions=form.conditions), {
            label.key: label.key for label in labels
        }


def usual_bundle(parser: Component, plugins: Plugins) -> Bundle | None:
    """The benchmark whose answers a parser reads where none is named: the one that uses it, or the one shipped.

    None for a parser of choices alone, which needs none.

    Raises:
        UsageError: no benchmark uses the parser, or several do.
    """
    name, tasks = parser.spec.name, cast("ParserSpec", parser.spec).tasks
    if tasks and "labels" not in tasks:
        return None
    using = []
    for places in bundles.installed(plugins).values():
        for folder, origin in places:
            try:
                bundle = bundles.load(folder, origin=origin)
            except BiasfwError:  # `biasfw list` says what is wrong with it
                continue
            if bundle.manifest["protocols"].get("generate", {}).get("parser") == name:
                using.append(bundle)
    for found in (using, [bundle for bundle in using if bundle.origin.split()[0] == FIRST_PARTY]):
        if len(found) == 1:
            return found[0]
    names = listed(bundle.name for bundle in using)
    what = f"several benchmarks use the parser {name} ({names})" if using else f"no benchmark uses the parser {name}"
    raise UsageError(f"{what}; say whose answers these are: --benchmark NAME")


def _result(answer: Answer, known: _Known, written: Sequence[str]) -> dict[str, Any]:
    outcomes = {slot: str(reading.outcome) for slot, reading in answer.slots.items()}
    values = {
        slot: known.shown.get(reading.value or "") if reading.outcome is Outcome.ANSWERED else None
        for slot, reading in answer.slots.items()
    }
    return {
        "outcome": _whole(list(outcomes.values())),
        "value": values if known.form.task == "labels" else next(iter(values.values()), None),
        "outcomes": outcomes,
        "flags": [*answer.flags, *written],
    }


def _whole(outcomes: Sequence[str]) -> str:
    """The outcome of an answer from those of its slots."""
    filled = (Outcome.ANSWERED, Outcome.ABSTAINED)
    missing = [outcome for outcome in outcomes if outcome not in filled]
    return (*missing, *sorted(outcomes))[0] if outcomes else str(Outcome.UNPARSED)


def _word(row: Mapping[str, Any], name: str) -> str | None:
    value = row.get(name)
    if value is not None and (not isinstance(value, str) or not value):
        raise DataError(f"`{name}` is {found_in_words(value)}; write a text, or leave it out")
    return value


def _names(row: Mapping[str, Any], name: str) -> tuple[str, ...] | None:
    values = row.get(name)
    if values is None:
        return None
    if not isinstance(values, list) or not values or not all(isinstance(each, str) and each for each in values):
        raise DataError(f'`{name}` is not a list of names; write for example ["first", "second"]')
    return tuple(values)


def _choices(language: str, choices: tuple[str, ...] | None) -> tuple[Form, Mapping[str, str]]:
    """One slot for the options; they are lettered, and printed as they are given (without any: a, b)."""
    given = choices or _OPTIONS
    keys = [chr(ord("a") + index) for index in range(len(given))]
    texts = zip(keys, given, strict=True)
    labels = tuple(Label(key, {language: (text,)} if choices else {}) for key, text in texts)
    form = Form("choice", (Slot("choice"),), labels, languages=(language,), conditions=("",))
    return form, dict(zip(keys, given, strict=True))


def _grouped(known: Sequence[Label], groups: Sequence[str], language: str) -> tuple[Label, ...]:
    """The labels of a row that names its groups: a name of one of the benchmark's labels stands for all its aliases.

    Any other name stands for itself, and so does a name that two labels share, and each of two names of one label.
    """
    owners: dict[str, set[str]] = {}
    for label in known:
        for names in label.names.values():
            for name in names:
                owners.setdefault(_folded(name), set()).add(label.key)
    owner = {name: owners.get(_folded(name), set()) for name in groups}
    wanted = Counter(key for keys in owner.values() for key in keys)
    meant = {name: min(keys) for name, keys in owner.items() if len(keys) == 1 and wanted[min(keys)] == 1}
    by_key = {label.key: label for label in known}
    named = tuple(
        Label(name, by_key[meant[name]].names, by_key[meant[name]].abstains)
        if name in meant
        else Label(name, {language: (name,)})
        for name in groups
    )
    return named + tuple(label for label in known if label.abstains and label.key not in meant.values())


def _folded(name: str) -> str:
    return " ".join(folded(name).split())
