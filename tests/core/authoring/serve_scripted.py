"""A process that serves a workbench (its argument) with the scripted target, for tests that kill it.

Two more arguments: the distribution that the target is from, and the mode.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

from biasfw.authoring.asker import Target
from biasfw.authoring.bench import open_bench
from biasfw.authoring.web.serving import serve
from biasfw.authoring.web.session import Session
from biasfw.plugins import Plugins

NAME = "scripted_target"

if __name__ == "__main__":
    spec = importlib.util.spec_from_file_location(NAME, Path(__file__).with_name("conftest.py"))
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[NAME] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    plugins = Plugins.installed()
    distribution, mode = sys.argv[2:] or ("biasfw", None)
    plugins.add(module.ScriptedPlugin(), "scripted", distribution)
    session = Session(open_bench(Path(sys.argv[1])), plugins, Target("scripted", "overlap", mode))
    serve(session, None, lambda address: print(address.url, flush=True))  # noqa: T201
