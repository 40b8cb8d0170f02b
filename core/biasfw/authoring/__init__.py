"""The authoring bench: drafts written by people, tried against a model, and frozen into a benchmark.

A workbench is a folder that is itself a bundle of task ``choice``: ``benchmark.yaml``, ``items/`` (rebuilt from the
log), ``attempts.jsonl`` (the log, which is the truth), ``workbench.yaml`` (rule and limits), ``CONSENT.md``. Read in
this order: ``log``, ``drafts``, ``bench``, ``starting``; ``rules``, ``asker``, ``controls``, ``trying``;
``finalizing``, ``freezing``; ``withdrawing``, ``exports``; ``analysis``.
"""
