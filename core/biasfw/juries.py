"""Who judges: a judge's name, a YAML file or a judge of the benchmark, resolved into components and models."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from biasfw import schemas
from biasfw.contracts import Backend, BackendSettings
from biasfw.errors import UsageError
from biasfw.guarded import make_backend
from biasfw.phrases import listed
from biasfw.plugins import Component, Plugins
from biasfw.records import Mode
from biasfw.schemas import check_options
from biasfw.specs import BackendSpec, JudgeSpec
from biasfw.templates import compiled
from biasfw.yamlfile import load_yaml

Definition = Mapping[str, Any]
_BINDING = ("backend", "model", "backend_options", "mode")


@dataclass(frozen=True)
class Binding:
    """The model that a judge asks: a backend, a model and its options."""

    backend: Component
    model: str | None
    options: Mapping[str, Any]
    mode: Mode = "generate"

    def make(self, seed: int) -> Backend:
        """The backend, built but not loaded."""
        settings = BackendSettings(self.model, self.mode, seed, self.options)
        return make_backend(self.backend, settings)

    @property
    def spec(self) -> BackendSpec:
        """The spec of the backend."""
        return cast("BackendSpec", self.backend.spec)

    @property
    def identity(self) -> list[Any]:
        """What tells this model from another; options that cannot change an answer do not count."""
        properties = self.spec.options.get("properties", {})
        kept = {k: v for k, v in sorted(self.options.items()) if properties.get(k, {}).get("affects_answers", True)}
        return [self.spec.name, self.backend.plugin.origin, self.model, kept, self.mode]

    @property
    def whole(self) -> list[Any]:
        """Everything that the backend is built from: equal ones have one fingerprint."""
        return [self.spec.name, self.backend.plugin.origin, self.model, dict(self.options), self.mode]


@dataclass(frozen=True)
class Seat:
    """One judge, alone or as a member of a panel. ``members`` are those of a judge that combines verdicts."""

    name: str
    component: Component
    options: Mapping[str, Any]
    binding: Binding | None = None
    parser: str | None = None  # another parser than the protocol's
    members: tuple[Seat, ...] = ()
    definition: Definition = field(default_factory=dict)

    @property
    def withheld(self) -> frozenset[str]:
        """Options of the backend that may hold a secret (``writeOnly`` in its schema): no file of a run has them."""
        given = self.definition.get("backend_options", {})
        properties = self.binding.spec.options.get("properties", {}) if self.binding else {}
        return frozenset(name for name in given if properties.get(name, {}).get("writeOnly"))

    @property
    def kept(self) -> dict[str, Any]:
        """The definition as run.json has it, without what is withheld."""
        kept = dict(self.definition)
        if self.withheld:
            given = kept.pop("backend_options")
            rest = {name: value for name, value in given.items() if name not in self.withheld}
            kept.update({"backend_options": rest} if rest else {})
        if self.members:
            kept["members"] = [member.kept for member in self.members]
        return kept

    @property
    def everybody(self) -> Iterator[Seat]:
        """This seat and all below it."""
        yield self
        for member in self.members:
            yield from member.everybody

    @property
    def leaves(self) -> Iterator[Seat]:
        """The seats that judge themselves, this one or those below it."""
        if not self.members:
            yield self
        for member in self.members:
            yield from member.leaves


def find(name: str, manifest: Mapping[str, Any], plugins: Plugins) -> Seat:
    """The judge ``name``: a file ``*.yaml``, a judge of the manifest, or a component.

    Raises:
        UsageError: nobody offers it, a role is not bound to a model, or an option is wrong.
        DataError: the file is not what ``judge.schema.json`` says; with line and column.
    """
    if name.endswith((".yaml", ".yml")):
        document = load_yaml(Path(name))
        schemas.check("judge", document)
        return seat({"name": called(Path(name)), **document.value}, manifest, plugins)
    return seat({"name": name, "judge": name}, manifest, plugins)


def called(path: Path) -> str:
    """The name of the judge in a file that gives none: that of the file, as far as it can be one."""
    plain = re.sub(r"[^a-z0-9_-]+", "-", path.stem.lower()).strip("-_")[:40].rstrip("-_")
    return plain if plain[:1].isalpha() else f"judge-{plain}".rstrip("-")


def seat(definition: Definition, manifest: Mapping[str, Any], plugins: Plugins) -> Seat:
    """The judge that ``definition`` describes.

    Raises:
        UsageError: as for ``find``.
        DataError: a prompt of the benchmark for judges uses what no template may use.
    """
    own = manifest.get("judges", {})
    name = definition["judge"]
    offered = [component.spec.name for component in plugins.components("judge")]
    if name in own:
        if name in offered:
            raise UsageError(
                f"judge {name!r} is offered by a plugin and by {manifest['name']}; write {name}@DISTRIBUTION for the "
                "plugin's (biasfw list judges), or rename the benchmark's"
            )
        definition = _with_roles(definition, own[name])
    elif own and name.partition("@")[0] not in offered:
        raise UsageError(plugins.unknown("judge", name, [*offered, *own]))
    elif "roles" in definition:
        known = f"it has {listed(own)}" if own else "it has none"
        raise UsageError(f"roles belong to a judge of the benchmark; {manifest['name']}: {known}")
    found = _seat(definition, manifest, plugins)
    if any(leaf.binding for leaf in found.leaves):
        _check_templates(manifest)
    return found


def _check_templates(manifest: Mapping[str, Any]) -> None:
    """That the benchmark's prompts for judges may be used should be known before anything is asked."""
    for language, texts in manifest.get("judge_templates", {}).items():
        for part, text in texts.items():
            compiled(text, f"{manifest['name']}: judge template {language}/{part}")


def _with_roles(definition: Definition, own: Definition) -> Definition:
    """The benchmark's judge, its roles bound to the user's models."""
    beyond = [key for key in definition if key not in ("schema_version", "name", "judge", "roles")]
    if beyond:
        raise UsageError(
            f"judge {definition['judge']!r} is the benchmark's, you only bind its roles; leave out {listed(beyond)}"
        )
    roles = definition.get("roles", {})
    members = own.get("members", ())
    asked = {each["role"] for each in (own, *members) if "role" in each}
    for role in roles:
        if role not in asked:
            raise UsageError(f"judge {definition['judge']!r} has no role {role!r}; it has {listed(sorted(asked))}")
    missing = sorted(asked - set(roles))
    if missing:
        raise UsageError(
            f"judge {definition['judge']!r} asks models that you choose: bind {listed(missing)} in a file "
            f"(judge: {definition['judge']}, roles: {{{missing[0]}: {{backend: NAME, model: NAME}}}}) "
            "and give it with --judge FILE.yaml"
        )

    def bound(each: Definition) -> dict[str, Any]:
        kept = {key: value for key, value in each.items() if key != "role"}
        return {**kept, **(roles[each["role"]] if "role" in each else {})}

    whole = {**bound(own), "name": definition["name"]}
    if members:
        whole["members"] = [bound(member) for member in members]
    return whole


def _seat(definition: Definition, manifest: Mapping[str, Any], plugins: Plugins) -> Seat:
    name = definition["name"]
    component = plugins.find("judge", definition["judge"])
    spec = cast("JudgeSpec", component.spec)
    options = check_options(f"judge {spec.name}", spec.options, definition.get("options", {}))
    if spec.tasks and manifest["task"] not in spec.tasks:
        raise UsageError(
            f"judge {spec.name} cannot judge task {manifest['task']!r}; choose another (biasfw list judges)"
        )
    if "members" in definition and not spec.combines:
        raise UsageError(f"judge {spec.name} has no members; write judge: panel")
    members = tuple(_seat(each, manifest, plugins) for each in definition.get("members", ()))
    if "parser" in definition:
        plugins.find("parser", definition["parser"])  # that it is there should be known before anything is asked
    if spec.combines and not members:
        raise UsageError(f"judge {spec.name} combines the verdicts of members; list them in a file (--judge FILE.yaml)")
    names = [member.name for member in members]
    for each in names:
        if names.count(each) > 1:
            raise UsageError(f"two members of {name!r} are called {each!r}; give each a name of its own")
    if int(options.get("quorum", 0)) > len(members) > 0:
        raise UsageError(f"the quorum of {name!r} is {options['quorum']}, it has {len(members)} members; lower it")
    return Seat(
        name, component, options, _binding(definition, spec, plugins), definition.get("parser"), members, definition
    )


def _binding(definition: Definition, spec: JudgeSpec, plugins: Plugins) -> Binding | None:
    given = [key for key in _BINDING if key in definition]
    if not spec.roles:
        if given:
            raise UsageError(f"judge {spec.name} asks no model; leave out {listed(given)}")
        return None
    if "backend" not in definition:
        raise UsageError(
            f"judge {spec.name} asks a model: write a file with judge: {spec.name}, backend: NAME, model: NAME, "
            "and give it with --judge FILE.yaml"
        )
    backend = plugins.find("backend", definition["backend"])
    backend_spec = cast("BackendSpec", backend.spec)
    mode = cast("Mode", definition.get("mode", "generate"))
    if mode not in backend_spec.capabilities:
        able = listed(sorted(backend_spec.capabilities & {"generate", "choices"}))
        raise UsageError(f"backend {backend_spec.name} cannot judge with mode {mode}; it can: {able}")
    model = definition.get("model")
    if backend_spec.models and model not in backend_spec.models:
        what = f"has no model {model!r}" if model else "needs the name of a model"
        raise UsageError(f"backend {backend_spec.name} {what}; write model: {'|'.join(backend_spec.models)}")
    options = check_options(f"backend {backend_spec.name}", backend_spec.options, definition.get("backend_options", {}))
    return Binding(backend, model, options, mode)
