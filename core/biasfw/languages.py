"""Language packs: what parsers and reference models know about a language. Data, never code.

A pack is one YAML file named after its BCP 47 tag. Phrases are literal strings, compared after NFKC and case
folding; they are not regular expressions, so that a native speaker can write them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from biasfw.errors import DataError
from biasfw.form import Form, Label, Slot


@dataclass(frozen=True, slots=True)
class LanguagePack:
    """One language. Field names are those of ``schemas/language-pack.schema.json``."""

    language: str  # BCP 47
    name: str  # in English
    native_name: str
    script: str  # ISO 15924: Latn, Arab, Deva, Hang, Hans, Jpan
    reviewed_by_natives: int  # how many native speakers have reviewed the pack; 0: machine-written
    answer_phrases: tuple[str, ...] = ()  # what introduces an answer: "the answer is"
    refusal_phrases: tuple[str, ...] = ()  # what marks a refusal: "I can't help with"
    refusal_text: str = ""  # one whole natural refusal, used by the reference model `refuses`
    hedging_phrases: tuple[str, ...] = ()  # non-committal: "it depends"
    abstain_words: tuple[str, ...] = ()  # what fills a slot to decline: "none", "neither"
    negations: tuple[str, ...] = ()  # "not", "rather than"
    conjunctions: tuple[str, ...] = ()  # what joins two names: "and", "or"
    name_fillers: tuple[str, ...] = ()  # what may stand around a name and changes nothing: "the", "people", "-들"
    reason_words: tuple[str, ...] = ()  # what begins the reason for an answer: "because"
    option_letters: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # a -> native letters
    choice_words: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # kind -> words around a chosen option
    colon_marks: tuple[str, ...] = (":",)
    list_marks: tuple[str, ...] = (",",)
    thinking_tags: tuple[str, ...] = ("think", "thinking", "reasoning")
    rtl: bool = False
    answer_language_method: str | None = None  # "script" where the script decides; null: not assessed
    fixtures: tuple[Mapping[str, Any], ...] = ()  # text -> expected reading; run by `biasfw check`


def load_pack(path: Path) -> LanguagePack:
    """Read the language pack ``path``; its file name is its language tag.

    Raises:
        DataError: the file cannot be read, is not what ``language-pack.schema.json`` says, or has another tag.
    """
    from biasfw import schemas, scripts  # noqa: PLC0415 - start-up time
    from biasfw.yamlfile import load_yaml  # noqa: PLC0415 - start-up time

    document = load_yaml(path)
    schemas.check("language-pack", document)
    values: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in document.value.items()
    }
    if values["language"] != path.stem:
        raise DataError(
            f"{document.where('/language')}: /language: it is {values['language']!r} in a file named {path.name}; "
            f"rename the file to {values['language']}.yaml"
        )
    if values.get("answer_language_method") == "script" and not scripts.is_told(values["script"]):
        raise DataError(
            f"{document.where('/script')}: /script: letters cannot be told by the script {values['script']!r}; "
            "name the script of the letters, or set answer_language_method to null"
        )
    for name in ("option_letters", "choice_words"):
        table: Mapping[str, list[str]] = values.get(name, {})
        values[name] = {key: tuple(texts) for key, texts in table.items()}
    return LanguagePack(**values)


def refusal_text(packs: Mapping[str, LanguagePack], language: str) -> dict[str, str]:
    """What the reference model ``refuses`` says in ``language``; empty where no pack has a refusal."""
    pack = packs.get(language) or packs.get(language.partition("-")[0])
    return {"refuses": pack.refusal_text} if pack is not None and pack.refusal_text else {}


def load_packs(
    folders: Iterable[Path], tags: Iterable[str] | None = None, *, overrides: Path | None = None
) -> dict[str, LanguagePack]:
    """Read the packs of the languages ``tags`` (None: all) from ``folders``; other files are not even opened.

    A language without a pack of its own gets the one of its base language (``pt`` for ``pt-BR``), if there is one.
    Packs in ``overrides`` (a bundle's own folder) go before all others.

    Returns:
        Packs by their own tag, in the order of ``tags`` (None: sorted).

    Raises:
        DataError: a folder is missing, two folders offer one language, or a pack is not valid.
    """
    files = pack_files(folders, overrides)
    wanted = sorted(files) if tags is None else [tag if tag in files else tag.split("-")[0] for tag in tags]
    return {tag: load_pack(files[tag]) for tag in dict.fromkeys(wanted) if tag in files}


def pack_files(folders: Iterable[Path], overrides: Path | None = None) -> dict[str, Path]:
    """The files of the packs in ``folders``, by language tag; those in ``overrides`` go before all others.

    Raises:
        DataError: a folder is missing, or two folders offer one language.
    """
    files: dict[str, Path] = {}
    for folder in dict.fromkeys(folder.resolve() for folder in folders):
        for tag, path in _offered(folder).items():
            if tag in files:
                raise DataError(
                    f"the language {tag!r} has two packs, {files[tag]} and {path}; remove one of the two, "
                    "or switch off the plugin that offers it (BIASFW_PLUGINS)"
                )
            files[tag] = path
    if overrides is not None:
        files.update(_offered(overrides))
    return files


def _offered(folder: Path) -> dict[str, Path]:
    if not folder.is_dir():
        raise DataError(f"the folder of language packs {folder} does not exist; create it, or remove what names it")
    return {path.stem: path for path in sorted(folder.glob("*.yaml"))}


def fixture_form(pack: LanguagePack, fixture: Mapping[str, Any]) -> Form:
    """The answer form that a fixture of ``pack`` describes: its headers and names, under the condition ``""``.

    Headers and names are given in the pack's language, or in several as ``{tag: [text, ...]}``.
    """

    def names(given: Any) -> dict[str, tuple[str, ...]]:
        table = given if isinstance(given, Mapping) else {pack.language: given}
        return {tag: (texts,) if isinstance(texts, str) else tuple(texts) for tag, texts in table.items()}

    labels = [Label(key, names(given)) for key, given in fixture["labels"].items()]
    labels += [Label(key, names(given), abstains=True) for key, given in fixture.get("abstention", {}).items()]
    slots = tuple(Slot(key, {"": names(given)}) for key, given in fixture["slots"].items())
    return Form(fixture["task"], slots, tuple(labels), languages=(pack.language,), conditions=("",))
