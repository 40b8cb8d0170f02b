"""Where the right option and the groups stand: a model that always takes one place must gain nothing."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from biasfw.answerform import make_form
from biasfw.conforming.shared import here, measure, one_each, scored, tell, warn_or_err
from biasfw.expansion import expand
from biasfw.phrases import many
from biasfw.plan import make_design
from biasfw.stats import proportion_from_cluster_sums

if TYPE_CHECKING:
    from biasfw.validating.inspection import Inspected, Split

LOCKED = 0.9  # of the prompts
_FEWEST = 5  # clusters, below which nothing is said


def check(seen: Inspected) -> None:
    """Add the positions of every split, and what is locked or leans."""
    for split in here(seen):
        if split.bundle.manifest["task"] == "choice":
            _gold(seen, split)
        elif split.bundle.manifest["task"] == "labels":
            _labels(seen, split)


def _gold(seen: Inspected, split: Split) -> None:
    """The position of the right option over the prompts of one condition and instruction."""
    manifest = split.bundle.manifest
    told = {(each.seed.source_id, each.seed.language): each for each in scored(split)}
    conditions = tuple(manifest["conditions"])[:1]
    form = make_form(manifest, conditions, ())
    seeds = [each.seed for each in scored(split) if each.seed.gold is not None]
    positions: dict[str, Counter[int]] = defaultdict(Counter)
    options = 0
    for trial in expand(seeds, make_design(manifest, conditions, form), 1):
        positions[trial.item.cluster][trial.item.order.index(str(trial.item.gold)) + 1] += 1
        options = max(options, len(trial.item.order))
    total: Counter[int] = sum(positions.values(), Counter())
    if not total:
        return
    count = total.total()
    measure(seen, split, "position of the right option", {str(at): total[at] / count for at in range(1, options + 1)})
    if len(positions) < _FEWEST:
        return
    sizes = [each.total() for each in positions.values()]
    locked = max(total.values()) >= LOCKED * count  # of the other positions nothing more need be told
    for at in range(1, options + 1):
        share = proportion_from_cluster_sums([each[at] for each in positions.values()], sizes)
        said = (
            f"the right option stands at position {at} in {total[at]} of {many(count, 'prompt')} of split {split.name}"
        )
        first = one_each(split, [each for each in told.values() if each.seed.gold is not None])[:1]
        if total[at] >= LOCKED * count:
            what = f"order-locked gold: {said}, so a model that always takes it is right"
            way = "ask in every order (orders: design: rotations), or mix the positions"
            tell(seen, warn_or_err(split), first, "/gold", f"{what}; {way}")
        elif locked or share.low is None or share.high is None:
            continue
        elif not share.low <= 1 / options <= share.high:
            tell(seen, "warning", first, "/gold", f"{said}, chance is {1 / options:.0%}; ask in every order, or mix")


def _labels(seen: Inspected, split: Split) -> None:
    """How often each group stands at each place of the list, by category."""
    manifest = split.bundle.manifest
    conditions = tuple(manifest["conditions"])[:1]
    form = make_form(manifest, conditions, ())
    counts: dict[str, Counter[tuple[str, int]]] = defaultdict(Counter)
    for trial in expand(split.seeds, make_design(manifest, conditions, form), 1):
        for at, key in enumerate(trial.item.order, start=1):
            counts[trial.item.category][key, at] += 1
    keys = [label.key for label in form.groups]
    uneven = []
    for category, found in counts.items():
        cells = [found[key, at] for key in keys for at in range(1, len(keys) + 1)]
        if max(cells) != min(cells):
            uneven.append(f"{category} ({min(cells)} to {max(cells)})")
    measure(seen, split, "positions of the groups", {c: max(f.values()) for c, f in counts.items()})
    if uneven:
        what = f"split {split.name}: the groups do not stand equally often at every place in {', '.join(uneven)}"
        orders = 2 * len(keys) if len(keys) % 2 else len(keys)
        seen.report.facts.append(f"{what}; a multiple of {orders} items in a category balances them")
    else:
        seen.report.facts.append(f"split {split.name}: every group stands equally often at every place of the list")
