"""Which versions of which drafts are asked about, one after another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from biasfw.authoring.asker import Asker
from biasfw.authoring.bench import Workbench
from biasfw.authoring.drafts import MAIN, PLACEBO, Draft, Version
from biasfw.authoring.trying import Tried, try_version
from biasfw.errors import UsageError

Place = tuple[Draft, Version, str]


def ends_of(bench: Workbench, items: Sequence[str] = (), *, every_end: bool = False) -> list[Place]:
    """The newest version of ``items`` (default: all); with ``every_end`` also the first, and the last placebo edit.

    Raises:
        UsageError: a draft does not exist or was withdrawn, or there is none.
    """
    state = bench.state()
    drafts = [bench.draft(name, state) for name in items] if items else state.live
    if not drafts:
        raise UsageError(f"{bench.folder} has no drafts yet; write one: biasfw author write {bench.folder} --by ...")
    found: list[Place] = []
    for draft in drafts:
        if draft.withdrawn:
            raise UsageError(f"{draft.name} was withdrawn; there is nothing to ask")
        versions = [(draft.first, MAIN)] if every_end and draft.first else []
        versions.append((draft.current, MAIN))
        if every_end:
            versions += [(version, PLACEBO) for version in draft.versions[PLACEBO][-1:]]
        places = [(draft, v, arm) for v, arm in versions if v.texts is not None]
        found += [place for n, place in enumerate(places) if place not in places[:n]]
    return found


def try_all(asker: Asker, places: Iterable[Place]) -> Iterator[Tried]:
    """Try each; what is done is in the log when it is yielded."""
    for draft, version, arm in places:
        yield try_version(asker, draft, version, arm=arm)
