"""The two things people do with a run: draw a part of it and write a sheet, and read a sheet back."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from biasfw.errors import DataError, UsageError
from biasfw.form import Form
from biasfw.keys import sha256_json
from biasfw.labelling.drawing import NONE, RESERVED, Draw, DrawnRow, beginning, draw_units
from biasfw.labelling.importing import Imported, read_sheet
from biasfw.labelling.keeping import FOLDER, draws, keep, load_draw, load_labels
from biasfw.labelling.sheets import Shown, check_place, help_text, write_sheet
from biasfw.labelling.texts import cell_text, text_hash
from biasfw.plugins import Plugins
from biasfw.runview import RunView, view_run
from biasfw.store import RunDirectory
from biasfw.verdicts import open_run


@dataclass(frozen=True, slots=True)
class Drawn:
    """A draw and the files that were written for it."""

    draw: Draw
    kept: Path
    files: tuple[Path, ...]


def draw_labels(run: Path, n: int, seed: int = 0, output: Path | None = None, plugins: Plugins | None = None) -> Drawn:
    """Draw ``n`` source prompts of a run, keep the draw in it, and write a sheet with all their responses.

    Raises:
        UsageError: the run scored choices, so that there is no text to label; too few prompts; the sheet is there.
        StoreError: there is no run, or it cannot be written.
    """
    view = view_run(run, plugins)
    if view.info["protocol"]["mode"] == "choices":
        raise UsageError(f"{run} scored choices: there is no text that people could label; run with --mode generate")
    if output is not None:
        check_place(output)
    found = [row for row in open_run(run, None).rows if row.answered and row.category not in view.form.controls]
    strata, units = draw_units(found, n, seed)
    letters = tuple(label.key for label in view.form.labels) if view.form.task != "labels" else ()
    with RunDirectory(run) as directory:
        rows = [
            (row, stratum.inclusion)
            for unit, members in units.items()
            for stratum in strata
            if unit[:2] == (stratum.language, stratum.category)
            for row in sorted(members, key=lambda row: sha256_json([seed, n, row.key]))
        ]
        shown = [_shown(directory, row.key, view) for row, _ in rows]
        draw = Draw(
            name="",
            seed=seed,
            asked=n,
            slots=tuple(slot.key for slot in view.form.slots),
            labels=_labels(view.form),
            strata=strata,
            rows=tuple(
                DrawnRow(
                    id=sha256_json([seed, n, row.key])[:10],
                    key=row.key,
                    language=row.language,
                    category=row.category,
                    prompt=row.cluster,
                    inclusion=inclusion,
                    text_sha256=text_hash(text.response),
                    order=row.order if letters else (),
                )
                for (row, inclusion), text in zip(rows, shown, strict=True)
            ),
            population=tuple(sorted(beginning(row.key) for row in found)),
            letters=letters,
            left_out=tuple(view.form.controls),
        ).sealed()
        kept = keep(directory, draw)
    text = help_text(draw, _about(view, draw), _headers(view.form, {stratum.language for stratum in strata}))
    return Drawn(draw, kept, tuple(write_sheet(output or run / FOLDER / f"{draw.name}.csv", draw, shown, text)))


def _shown(directory: RunDirectory, key: str, view: RunView) -> Shown:
    """The response, and the options it chooses from under their letters, where they may be passed on."""
    response = directory.answered(key)
    text = cell_text((response.text if response is not None else None) or "")
    if view.form.task == "labels" or view.manifest["redistribution"] == "forbidden":
        return Shown(text)
    item = directory.items.read(directory.requests.read(key)["item_id"])
    options = {choice["key"]: choice["text"] for choice in item.get("choices", ())}
    letters = [label.name(item["language"]) for label in view.form.labels]
    lines = [f"{letter}: {options[key]}" for letter, key in zip(letters, item.get("order", ()), strict=False)]
    return Shown(text, cell_text("\n".join(lines)))


def import_labels(run: Path, sheet: Path, *, replace: bool = False) -> Imported:
    """Read a sheet and keep its labels in the run.

    Raises:
        DataError: with file, row and column; nothing is kept then.
    """
    if not (run / "run.json").is_file():
        raise UsageError(f"{run} holds no run (no run.json); give a folder that biasfw run made")
    with RunDirectory(run) as directory:
        before = {name: load_labels(run, load_draw(run, name)) for name in draws(run)}
        if not before:
            raise DataError(f"nothing was drawn from {run}; only labels of `biasfw labels draw` are taken")
        imported = read_sheet(run, sheet, before, replace=replace)
        keep(directory, imported.labels)
    return imported


def _labels(form: Form) -> dict[str, tuple[str, ...]]:
    """Key -> the name in every language; and what people may also say."""
    found = {
        label.key: tuple(dict.fromkeys(names[0] for names in label.names.values() if names)) for label in form.labels
    }
    abstains = any(label.abstains for label in form.labels)
    also = {key: (key,) for key in RESERVED if key not in found and not (key == NONE and abstains)}
    return {**found, **also}


def _headers(form: Form, languages: Collection[str]) -> dict[str, list[str]]:
    """Slot -> its headers in the languages and conditions of the run, as they stand in the responses."""
    return {
        slot.key: list(
            dict.fromkeys(slot.header(condition, tag) for condition in form.conditions for tag in sorted(languages))
        )
        for slot in form.slots
    }


def _about(view: RunView, draw: Draw) -> dict[str, str]:
    manifest = view.manifest
    kept = {
        "forbidden": "Responses may quote the benchmark, whose redistribution is forbidden: do not pass this sheet on.",
    }
    return {
        "content warning": f"{manifest['content_warning']} The responses are a model's, unread and unchecked.",
        "what this is": f"{draw.prompts} prompts drawn at random from a run of {view.bundle.full_name} ({draw.name}).",
        "redistribution": kept.get(manifest["redistribution"], ""),
        "canary": str(manifest["canary"]),
    }
