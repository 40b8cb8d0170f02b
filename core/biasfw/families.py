"""Which family a model belongs to, by its name: a judge tends to favour what its own kind writes.

Names are all there is to go by; what a model was distilled from counts too where its name says so.
"""

from __future__ import annotations

import re
import unicodedata

_ALIASES = {  # a word in a name -> the family
    "chatgpt": "gpt", "davinci": "gpt", "o1": "gpt", "o3": "gpt", "o4": "gpt", "codellama": "llama", "vicuna": "llama",
    "mixtral": "mistral", "ministral": "mistral", "magistral": "mistral", "codestral": "mistral", "pixtral": "mistral",
    "devstral": "mistral", "qwq": "qwen", "qvq": "qwen", "opus": "claude", "sonnet": "claude", "haiku": "claude",
    "command": "command", "chatglm": "glm",
}  # fmt: skip
_KNOWN = frozenset({
    "aya", "bloom", "claude", "command", "deepseek", "elyza", "ernie", "exaone", "falcon", "gemini", "gemma", "glm",
    "gpt", "granite", "grok", "hermes", "hunyuan", "internlm", "jais", "kimi", "llama", "mistral", "mpt", "nemotron",
    "nova", "olmo", "opt", "phi", "pythia", "qwen", "rinna", "sailor", "smollm", "solar", "stablelm", "swallow", "tulu",
    "yi",
})  # fmt: skip
_NO_FAMILY = frozenset({
    "ai", "base", "bf", "chat", "demo", "distill", "fp", "gguf", "hf", "instruct", "int", "it", "large", "latest",
    "meta", "mini", "model", "nano", "openai", "org", "preview", "pro", "small", "text", "the", "turbo",
})  # fmt: skip


def families(name: str) -> frozenset[str]:
    """The families that a model's name or path tells: ``{"deepseek", "llama"}`` for a distilled one; may be empty."""
    plain = unicodedata.normalize("NFKC", name).casefold().replace("\\", "/").rstrip("/")
    stems = [_stem(word) for word in re.split(r"[^a-z0-9]+", plain.rpartition("/")[2]) if word]
    known = {stem for stem in stems if stem in _KNOWN or stem in _ALIASES.values()}
    if known:
        return frozenset(known)
    return frozenset([stem for stem in stems if len(stem) > 1 and stem not in _NO_FAMILY][:1])


def _stem(word: str) -> str:
    """``qwen2`` -> qwen, ``deepseekv3`` -> deepseek, ``gpt4o`` -> gpt, ``o1`` -> gpt."""
    if word in _ALIASES:
        return _ALIASES[word]
    stem = re.sub(r"v?\d.*$", "", word)
    return _ALIASES.get(stem, stem)
