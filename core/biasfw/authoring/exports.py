"""What was made from a workbench and holds its texts: finalised bundles, annotations, and runs of both."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Set
from pathlib import Path
from typing import Any

from biasfw.annotating.drawing import KEY
from biasfw.annotating.leaving import leave, leave_out
from biasfw.authoring.bench import Workbench
from biasfw.authoring.files import write_rows
from biasfw.authoring.log import today
from biasfw.authoring.objecting import NO_REASON, WITHDRAWN, quoted
from biasfw.authoring.starting import json_manifest
from biasfw.jsonlines import write_atomically
from biasfw.phrases import many
from biasfw.textfile import read_jsonl
from biasfw.yamlfile import load_yaml

_PATCH = re.compile(r"^(\d+\.\d+\.)(\d+)")
_REVIEWED = re.compile(r"reviewed \d+ of \d+ dialogues")  # as freezing writes it
_OBJECTED = re.compile(r"objected to \d+ of \d+ dialogues?")
_COUNT = re.compile(r"^\d+ dialogues\b")


def leave_exports(
    bench: Workbench, by: str, items: Set[str], *, erase: bool, reasons: Set[str] = frozenset()
) -> dict[str, int]:
    """Take the items of ``by`` out of everything that was made; return how many lines and tasks went.

    ``reasons`` are what was said against items; bundles that quote it do so no more.
    """
    state = bench.state()
    gone = {"finalised": 0, "annotated": 0}
    for folder in dict.fromkeys(row["folder"] for row in state.finals):
        gone["finalised"] += _leave_bundle(bench.folder / folder, items)
        _leave_reasons(bench.folder / folder, reasons)
    for name in dict.fromkeys(state.annotations):
        if (bench.folder / name / KEY).is_file():
            gone["annotated"] += leave_out(bench.folder / name, items, erase=erase)
            gone["annotated"] += leave(bench.folder / name, by, erase=erase)
    return gone


def _leave_bundle(folder: Path, items: Set[str]) -> int:
    """Take items out of every items file of a finalised bundle; return how many lines went."""
    count = 0
    for path in sorted(folder.rglob("*.jsonl")):
        rows: list[Mapping[str, Any]] = [row for _, row in read_jsonl(path)]
        kept = [dict(row) for row in rows if row.get("source_id") not in items]
        count += len(rows) - len(kept)
        if len(kept) < len(rows):
            write_rows(path, kept)
    if count:
        _tell(folder, count)
    return count


def _leave_reasons(folder: Path, reasons: Set[str]) -> None:
    """The reasons leave the datasheet and the manifest."""
    words = sorted({quoted(reason) for reason in reasons} - {NO_REASON}, key=len, reverse=True)
    for path in (folder / "DATASHEET.md", folder / "benchmark.yaml"):
        if not words or not path.is_file():
            continue
        text = changed = path.read_text(encoding="utf-8")
        for each in words:
            changed = changed.replace(each, WITHDRAWN).replace(json.dumps(each, ensure_ascii=False)[1:-1], WITHDRAWN)
        if changed != text:
            write_atomically(path, changed.encode("utf-8"))


def _tell(folder: Path, count: int) -> None:
    """The manifest gets another version and the new number of dialogues, the datasheet a note."""
    path, sheet = folder / "benchmark.yaml", folder / "DATASHEET.md"
    if path.is_file():
        manifest = dict(load_yaml(path).value)
        rows = [row.get("metadata", {}) for _, row in read_jsonl(folder / "items/main.jsonl")]
        unreviewed = sum(row.get("reviewed_by_member") is False for row in rows)
        told = dict(manifest["interpretation"])
        told["population"] = _COUNT.sub(f"{len(rows)} dialogues", told["population"])
        told["does_not_show"] = _REVIEWED.sub(f"reviewed {unreviewed} of {len(rows)} dialogues", told["does_not_show"])
        objected = f"objected to {sum(bool(row.get('objections')) for row in rows)} of {many(len(rows), 'dialogue')}"
        told["does_not_show"] = _OBJECTED.sub(objected, told["does_not_show"])
        version = _PATCH.sub(lambda found: f"{found[1]}{int(found[2]) + 1}", manifest["version"])
        changed = {**manifest, "version": version, "interpretation": told}
        write_atomically(path, json_manifest(changed).encode("utf-8"))
    if sheet.is_file():
        note = f"\n## Withdrawn\n\n{many(count, 'row')} taken out on {today()}: somebody withdrew their texts.\n"
        write_atomically(sheet, (sheet.read_text(encoding="utf-8") + note).encode("utf-8"))


def runs_with(bench: Workbench, places: tuple[Path, ...] = (Path("runs"),)) -> list[Path]:
    """Run directories in ``places`` and in the workbench whose prompts may hold texts of it."""
    names = {str(bench.manifest["name"])}
    for row in bench.state().finals:
        path = bench.folder / row["folder"] / "benchmark.yaml"
        if path.is_file():
            names.add(str(load_yaml(path).value["name"]))
    found = {path.parent for place in (*places, bench.folder / "runs") for path in place.glob("*/run.json")}
    return sorted(path for path in found if _benchmark_of(path) in names)


def _benchmark_of(run: Path) -> str | None:
    try:
        text = (run / "run.json").read_text(encoding="utf-8")
        return next(_names(json.loads(text)), None)
    except (OSError, ValueError, RecursionError):
        return None


def _names(document: Any) -> Iterator[str]:
    """The name of the benchmark in a run.json."""
    if isinstance(document, dict) and isinstance(document.get("benchmark"), dict):
        yield str(document["benchmark"].get("name", ""))
