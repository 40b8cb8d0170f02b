"""The reader ``debatebias_csv``: the authors' prompts as seeds, with the text on both sides of the placeholder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from biasfw import Seed, sha256_text
from biasfw_plugins.debatebias._layout import file_name, find_files
from biasfw_plugins.debatebias._rows import Row, read_rows
from biasfw_plugins.debatebias._sources import source_titles

CLUSTER_NOTE = "lower bound of the uncertainty: 300 prompts grew from 50 seeds"
_SHOWN = 3


class DebateBiasCsv:
    """Reads prompts/en/generated_bias_prompts.csv and prompts/LANG/translated_prompts.csv, as many as there are.

    Columns: category, title, prompt; the prompt holds ``{Demographic List}`` exactly once. A seed has the fields
    ``before`` and ``after`` (the placeholder), so that nothing else in a prompt is ever taken for one. Source and
    cluster are the title within its category, shared by the languages as ``_sources`` says.
    """

    def __init__(self, options: Mapping[str, Any]) -> None:
        self._encoding: str | None = options.get("encoding")
        self.notes: list[str] = []

    def files(self, folder: Path) -> Mapping[str, Path]:
        """The files that ``read`` reads, named ``LANG/file``."""
        return {file_name(language): path for language, path in find_files(folder).files.items()}

    def read(self, folder: Path) -> Iterator[Seed]:
        """Yield the seeds, language by language, in the order of the files.

        Raises:
            DataError: no file is there, or one is not as the authors write it; with file and line.
        """
        layout = find_files(folder)
        rows = {language: list(read_rows(path, self._encoding)) for language, path in layout.files.items()}
        titles, matching = source_titles(rows)
        self.notes = [*layout.notes, *matching, *_near(rows)]
        for language, each in rows.items():
            for row in each:
                yield _seed(row, language, titles[language][row.category, row.title])


def _seed(row: Row, language: str, title: str) -> Seed:
    source = f"{row.category}-{sha256_text(title)[:12]}"
    return Seed(
        source_id=source,
        language=language,
        category=row.category,
        fields={"before": row.before, "after": row.after},
        cluster=source,
        metadata={"title": row.title, "cluster_note": CLUSTER_NOTE},
    )


def _near(rows: Mapping[str, list[Row]]) -> list[str]:
    found = [f"{row.where} ({row.near})" for each in rows.values() for row in each if row.near]
    more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    text = "text that looks like the placeholder, and is not, reaches the model as it is"
    return [f"{text}: {', '.join(found[:_SHOWN])}{more}"] if found else []
