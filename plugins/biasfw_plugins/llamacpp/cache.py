"""What the sequences of a context hold, so that what prompts share is evaluated once."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from biasfw_plugins.llamacpp.context import Context, DecodeError

_COPY_PAYS = 32  # tokens that a copy must save: it copies the whole buffer of a sequence, used or not
_BLOCK = 256  # cells; llama.cpp reads as many whole blocks as a batch reaches into, masked cells too
_BATCH_PAYS = 32  # tokens that do not pay for a batch of their own


class Cache:
    """The sequences of ``context`` and the tokens whose state each of them holds.

    ``can_rewind``: whether a sequence can go back to an earlier token. If not (recurrent state), nothing is shared.
    ``even``: batches are filled up to a multiple of this many tokens, to round alike (``rounding``). Attention
    rounds otherwise for a single token of a sequence, too: a prompt's batches have two or more, a ``step`` always one,
    and only what was evaluated with a prompt is shared with another.
    """

    def __init__(self, context: Context, *, can_rewind: bool, even: int = 1) -> None:
        self._context = context
        self.can_rewind = can_rewind
        self._even = even
        self._chunk = max(even, 2) if can_rewind else 1
        self._prompt: list[int] = []  # how many of the tokens held were evaluated with a prompt
        self._held: list[list[int]] = []
        self._spoiled: set[int] = set()
        self.evaluated = 0  # tokens, without those that fill up
        self.clear()

    @property
    def sequences(self) -> int:
        """How many sequences there are."""
        return self._context.sequences

    @property
    def cells(self) -> int:
        """How many tokens a sequence can hold with what fills up a batch."""
        return self._context.cells

    @property
    def room(self) -> int:
        """How many tokens a sequence can hold."""
        return self._context.cells - self._chunk + 1

    def clear(self) -> None:
        """Let no sequence hold anything, and overwrite what they held with zeros."""
        self._held = [[] for _ in range(self.sequences)]
        self._prompt = [0] * self.sequences
        self._spoiled.clear()
        self._context.clear()

    def settle(self) -> None:
        """Take back what an interrupt left half done."""
        self._restore(0, self.sequences)

    def held(self, sequence: int) -> int:
        """How many tokens ``sequence`` holds."""
        return len(self._held[sequence])

    def place(self, tokens: Sequence[int], most: int, free: Collection[int]) -> int:
        """Choose one of the ``free`` sequences for ``tokens``; it then holds what is there of their beginning.

        At most ``most`` tokens of it: logits after the later ones are wanted. The beginning may be copied from any
        sequence.
        """
        self._cleanse()
        if not self.can_rewind:
            chosen = min(free)
            self.drop(chosen)
            return chosen
        shared = [common(held, tokens, min(most, own)) for held, own in zip(self._held, self._prompt, strict=True)]
        chosen = max(free, key=lambda sequence: (shared[sequence], -len(self._held[sequence])))
        source = max(range(len(shared)), key=shared.__getitem__)
        depth = shared[chosen]
        if shared[source] - depth >= _COPY_PAYS:
            depth = shared[source]
            self.copy(source, chosen)
        try:
            self.rewind(chosen, depth)
        except DecodeError:
            self.drop(chosen)
        return chosen

    def copy(self, source: int, target: int) -> None:
        """Let ``target`` hold what ``source`` holds."""
        self._held[target] = []
        self._context.copy(source, target)
        self._held[target] = self._held[source].copy()
        self._prompt[target] = self._prompt[source]
        self._spoiled.discard(target)

    def move(self, source: int, target: int) -> None:
        """Let ``target`` hold what ``source`` holds, and where states cannot be shared ``source`` nothing."""
        if not self.can_rewind:
            self.drop(target)
        self.copy(source, target)
        if not self.can_rewind:
            self.drop(source)

    def rewind(self, sequence: int, length: int) -> None:
        """Let ``sequence`` hold its first ``length`` tokens only.

        Raises:
            DecodeError: the model keeps a state that cannot go back.
        """
        del self._held[sequence][length:]
        self._prompt[sequence] = min(length, self._prompt[sequence])
        self._context.rewind(length, sequence)

    def drop(self, sequence: int) -> None:
        """Let ``sequence`` hold nothing; this never fails."""
        self._held[sequence] = []
        self._prompt[sequence] = 0
        self._context.rewind(0, sequence)

    def spoil(self, sequence: int) -> None:
        """Let ``sequence`` hold nothing, and have its buffer overwritten before it is used again.

        It may contain what is not a number, and stays so when a mask multiplies it with zero.
        """
        self.drop(sequence)
        self._spoiled.add(sequence)

    def _cleanse(self) -> None:
        if not self._spoiled:
            return
        clean = next((number for number in range(self.sequences) if number not in self._spoiled), None)
        if clean is None or not any(self._held):
            self.clear()
        elif self.can_rewind:  # a sequence that is in use cannot be cleared; copying one writes all of a buffer
            for sequence in sorted(self._spoiled):
                self._context.copy(clean, sequence)
                self.drop(sequence)
            self._spoiled.clear()

    def extend(self, sequence: int, tokens: Sequence[int], wanted: int) -> Iterator[tuple[int, NDArray[np.float32]]]:
        """Let ``sequence``, which holds a beginning of ``tokens``, hold all of them.

        Yields n and the logits (n_vocab,) after n tokens, for every n > ``wanted``; read them before the next.

        Raises:
            DecodeError: llama.cpp refused a batch; the sequence is empty then.
        """
        held = self._held[sequence]
        while len(held) < len(tokens):
            begin = len(held)
            chunk = tokens[begin : begin + self._size(begin)]
            first, fill = max(0, wanted - begin), -len(chunk) % self._chunk
            full = len(chunk) + fill
            outputs = slice(first - first % self._chunk, full)  # rows of the last product: a multiple, too
            try:
                self._context.decode([*chunk, *[chunk[-1]] * fill], begin, sequence=sequence, outputs=outputs)
                if fill:
                    self._context.rewind(begin + len(chunk), sequence)
            except BaseException:  # an interrupt too: what the sequence holds is not known
                self.drop(sequence)
                raise
            if self._prompt[sequence] == begin:
                self._prompt[sequence] += len(chunk)
            held += chunk
            self.evaluated += len(chunk)
            for index in range(first, len(chunk)):
                yield begin + index + 1, self._context.logits(index)

    def _size(self, begin: int) -> int:
        """How many tokens to evaluate at once from ``begin`` on: up to where the next block of cells begins.

        Every token of a batch attends to all blocks that the last one needs; a batch that ends with a block saves a
        tenth of the time of a prompt of 700 tokens that goes on from the middle of another one.
        """
        size = _BLOCK - begin % _BLOCK
        size = min(size if size > _BATCH_PAYS else size + _BLOCK, self._context.n_batch)
        return max(size - size % self._chunk, self._chunk)

    def logits_after(self, sequence: int, tokens: Sequence[int]) -> NDArray[np.float32]:
        """Logits (n_vocab,) after ``tokens``, of which ``sequence`` holds a beginning but not all.

        Raises:
            DecodeError: llama.cpp refused a batch; the sequence is empty then.
        """
        ((_, logits),) = self.extend(sequence, tokens, len(tokens) - 1)
        return logits

    def step(self, tokens: Sequence[int]) -> list[NDArray[np.float32]]:
        """Evaluate one more token for each of the sequences 0, 1, 2, ...; gives the logits (n_vocab,) after each.

        Read them before anything else is evaluated. The sequences that follow fill up the batch.

        Raises:
            DecodeError: llama.cpp refused; the sequences hold what they held, or nothing.
        """
        count = len(tokens)
        full = min(self.sequences, count + -count % self._even)
        for filler in range(count, full):
            if self.held(filler) >= self._context.cells:
                self.drop(filler)
        try:
            self._context.step([*tokens, *[tokens[0]] * (full - count)], [len(held) for held in self._held[:full]])
        except BaseException:
            self._restore(0, full)
            raise
        self._restore(count, full)
        for held, token in zip(self._held, tokens, strict=False):
            held.append(token)
        self.evaluated += count
        return [self._context.logits(index) for index in range(count)]

    def _restore(self, begin: int, end: int) -> None:
        """Take back what the sequences ``begin`` to ``end`` were given by a step."""
        for sequence in range(begin, end):
            try:
                self._context.rewind(len(self._held[sequence]), sequence)
            except DecodeError:
                self.drop(sequence)


def common(one: Sequence[int], other: Sequence[int], most: int) -> int:
    """How many tokens both begin with, at most ``most``."""
    for place, (mine, theirs) in enumerate(zip(one[:most], other, strict=False)):
        if mine != theirs:
            return place
    return min(len(one), len(other), most)
