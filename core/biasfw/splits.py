"""What a split says for itself: its part of the manifest, and official files that a reader reads."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from biasfw import seedcheck
from biasfw.contracts import Reader
from biasfw.errors import DataError, UsageError
from biasfw.keys import sha256_file, sha256_json
from biasfw.phrases import are, many
from biasfw.plugins import Component, Plugins, load_class
from biasfw.records import Seed
from biasfw.schemas import check_options
from biasfw.sources import source_of

if TYPE_CHECKING:
    from biasfw.bundles import Bundle

_SAID = (
    "summary", "licence", "redistribution", "interpretation", "conditions", "question_id", "citation", "authorship",
    "expected", "reference_results", "not_recovered",
)  # fmt: skip


def of_split(manifest: Mapping[str, Any], split: str) -> Mapping[str, Any]:
    """The manifest as it holds for a split: what the split says goes before what the benchmark says.

    Where the split offers only some conditions, the protocols ask under those, and calibrate only if they can.
    """
    entry = manifest["splits"][split]
    said = {name: entry[name] for name in _SAID if name in entry}
    if "conditions" in said:
        offered = said["conditions"]
        said["protocols"] = {mode: _offered(protocol, offered) for mode, protocol in manifest["protocols"].items()}
    return {**manifest, **said}


def _offered(protocol: Mapping[str, Any], conditions: Mapping[str, Any]) -> dict[str, Any]:
    kept = {name: value for name, value in protocol.items() if name != "calibrate" or value in conditions}
    return {**kept, "conditions": [name for name in protocol["conditions"] if name in conditions]}


def remarks(bundle: Bundle, mode: str, asked: Sequence[str] | None) -> list[str]:
    """What everybody must know who reads a number of the split, as far as its manifest says.

    ``asked`` are the conditions that the user named; None: those of the protocol.
    """
    note = bundle.entry.get("cluster_note")
    usual = bundle.written["protocols"][mode]
    lost = [name for name in usual["conditions"] if name not in bundle.manifest["conditions"]]
    said = [note] if note else []
    if lost and asked is None:
        text = f"{bundle.full_name} does not offer the condition {', '.join(lost)}: left out"
        said.append(f"{text}, so shares are raw, not calibrated" if usual.get("calibrate") in lost else text)
    return said


def fetch_command(bundle: Bundle) -> str:
    """What a user types to fetch the files of the benchmark."""
    return f"biasfw fetch {bundle.name if bundle.origin != 'folder' else shlex.quote(str(bundle.folder))}"


def standing(bundle: Bundle, split: str) -> str:
    """Whether the files of a split are there, in a few words; empty for what is shipped."""
    if "reader" not in bundle.written["splits"][split]:
        return ""
    source = source_of(bundle.written, split)
    if source is None:
        return "not shipped: give --data DIR"
    return f"not fetched: {fetch_command(bundle)}" if source.missing() else "fetched"


def is_there(bundle: Bundle) -> bool:
    """Whether the data can be read: shipped, given with --data, or fetched."""
    return bundle.data is not None or standing(bundle, bundle.split) in ("", "fetched")


def reader_of(bundle: Bundle, plugins: Plugins) -> Component | None:
    """The component that reads the split; None if its files are shipped."""
    return plugins.find("reader", bundle.entry["reader"]) if "reader" in bundle.entry else None


def reader_options(bundle: Bundle, component: Component) -> dict[str, Any]:
    """The options of the reader: the manifest's, and the encoding that the user gave.

    Raises:
        UsageError: the reader has no such option.
    """
    given = {"encoding": bundle.encoding} if bundle.encoding else {}
    name = component.spec.name
    return check_options(f"reader {name}", component.spec.options, {**bundle.entry.get("options", {}), **given})


def read(bundle: Bundle, component: Component) -> tuple[list[Seed], tuple[str, ...]]:
    """The seeds that the reader finds, checked, and what a user should know about them.

    Items in a language that the benchmark has no texts for are left out, and it is said.

    Raises:
        DataError: the files are not as expected, or hold nothing that the benchmark can ask.
        UsageError: no folder was given, and the files were not fetched.
    """
    reader, folder = _reader(bundle, component)
    found = list(reader.read(folder))
    notes = list(getattr(reader, "notes", ()))
    languages = bundle.manifest["languages"]
    seeds = [seed for seed in found if seed.language in languages]
    known = f"{bundle.name} has no texts in it (it has: {', '.join(languages)})"
    foreign = Counter(seed.language for seed in found if seed.language not in languages)
    told = [f"{many(count, 'item')} in {tag} {are(count)} left out: {known}" for tag, count in foreign.items()]
    if not seeds:
        raise DataError(f"{folder}: {bundle.full_name} finds no items there; {'; '.join(told) or 'check the folder'}")
    _check(seeds, bundle, folder)
    return seeds, (*notes, *told)


def digest(bundle: Bundle, component: Component) -> str:
    """The sha256 of the names and contents of every file that is read.

    Raises:
        DataError: a file cannot be read.
        UsageError: no folder was given, and the files were not fetched.
    """
    reader, folder = _reader(bundle, component)
    files = getattr(reader, "files", _everything)(folder)
    try:
        return sha256_json(sorted([name, sha256_file(path)] for name, path in files.items()))
    except OSError as error:
        raise DataError(f"{error.filename}: cannot be read ({error.strerror}); check its permissions") from None


def _everything(folder: Path) -> dict[str, Path]:
    return {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}


def _reader(bundle: Bundle, component: Component) -> tuple[Reader, Path]:
    folder = bundle.data if bundle.data is not None else _fetched(bundle)
    if not folder.is_dir():
        what = "is a file, not a folder" if folder.exists() else "does not exist"
        raise DataError(f"{folder}: the folder given with --data {what}; check the path")
    return cast("Reader", load_class(component)(reader_options(bundle, component))), folder


def _fetched(bundle: Bundle) -> Path:
    """The folder of the fetched files, each compared with its sha256. Nothing is fetched here."""
    source, command = source_of(bundle.written, bundle.split), fetch_command(bundle)
    missing = source.missing() if source else []
    if source and not missing:
        source.check(command)
        return source.folder
    shipped = [name for name, entry in bundle.manifest["splits"].items() if "files" in entry]
    hint = f"; {bundle.name}:{shipped[0]} runs without it" if shipped else ""
    if source is None:
        raise UsageError(f"{bundle.full_name} is not shipped with biasfw; give its folder with --data DIR{hint}")
    lacks = f" whole ({', '.join(missing)} is missing)" if len(missing) < len(source.files) else ""
    raise UsageError(
        f"{bundle.full_name} is not shipped with biasfw and was not fetched{lacks}; run: {command} "
        f"(or give its folder with --data DIR){hint}"
    )


def _check(seeds: Sequence[Seed], bundle: Bundle, folder: Path) -> None:
    categories = {category["key"] for category in bundle.manifest["categories"]}
    seen = set()
    for seed in seeds:
        where = f"{folder}: item {seed.source_id!r} ({seed.language})"
        wrong = seedcheck.wrong(seed, bundle.manifest, categories)
        if wrong:
            raise DataError(f"{where}: {wrong}")
        identity = (seed.source_id, seed.language, seed.variant, seed.order)
        if identity in seen:
            place = f", instruction {seed.variant}, order {', '.join(seed.order)}" if seed.order else ""
            raise DataError(f"{where}{place} stands there twice; remove one of the two rows")
        seen.add(identity)
