"""The search: every candidate is tried, timed and compared with the others; one that fails is named and passed over."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import statistics
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import torch

from tilegym.backend.cutile_rs.tuning.agreement import difference, results_of
from tilegym.backend.cutile_rs.tuning.memory import CallerMemory
from tilegym.logger import get_logger

if TYPE_CHECKING:
    from tilegym_rs.tuning import Trial

_logger = get_logger(__name__)
# Larger than any L2 so far (H200: 50 MB, B200: 126 MB).
_FLUSHED_BYTES = 256 << 20


@dataclasses.dataclass
class Search:
    """One search.

    Attributes:
        name: of the kernel, for messages.
        kernel_fn: launches it with a configuration.
        configs: the candidates.
        warmup, repeats: calls per candidate before and while it is timed.
        device: a GPU.
        memory: what the kernel may write of the caller's.
    """

    name: str
    kernel_fn: Callable[[Any], Any]
    configs: Sequence[Any]
    warmup: int
    repeats: int
    device: torch.device
    memory: CallerMemory

    def run(self) -> tuple[int, list[Trial]]:
        """The best candidate's index, and what became of each. Raises RuntimeError where none can be used."""
        trials, groups = [], _Groups()
        try:
            for number, config in enumerate(self.configs):
                trials.append(self._try(number, config, groups))
        finally:
            self.memory.put_back()
        self._reject_odd_ones(trials, groups)
        timed = {number: t.milliseconds for number, t in enumerate(trials) if t.milliseconds is not None}
        if not timed:
            reasons = "; ".join(f"{c}: {t.failure}" for c, t in zip(self.configs, trials, strict=True))
            raise RuntimeError(f"{self.name}: none of {len(self.configs)} configurations ran: {reasons}")
        best = min(timed, key=timed.__getitem__)
        _logger.info(
            "%s: %s is the fastest of %d configurations, %.4f ms",
            self.name, self.configs[best], len(timed), timed[best],
        )  # fmt: skip
        return best, trials

    def _try(self, number: int, config: Any, groups: _Groups) -> Trial:
        from tilegym_rs.tuning import Trial

        call = functools.partial(self.kernel_fn, config)
        try:
            self.memory.put_back()
            output = call()
            self.memory.look()
            with contextlib.suppress(torch.OutOfMemoryError):  # no room to compare is no fault of the candidate
                groups.add(number, results_of(output, self.memory.written()))
            del output
            return Trial(time_on_gpu(call, self.memory.put_back, self.warmup, self.repeats, self.device))
        except Exception as error:  # whatever it is, it is this candidate's loss and not the search's
            self._check_device(config, error)
            self.memory.look()
            return self._failed(config, str(error) or type(error).__name__)

    def _failed(self, config: Any, reason: str) -> Trial:
        from tilegym_rs.tuning import Trial

        _logger.warning("%s: configuration %s cannot run: %s", self.name, config, reason)
        return Trial(None, reason)

    def _check_device(self, config: Any, error: Exception) -> None:
        """After an illegal access nothing runs in this process any more; the candidate that did it is to be named."""
        try:
            synchronize(self.device)
        except RuntimeError as broken:
            raise RuntimeError(
                f"{self.name}: configuration {config} has left {self.device} unusable for this process: {error}; "
                "take it out of the candidates"
            ) from broken

    def _reject_odd_ones(self, trials: list[Trial], groups: _Groups) -> None:
        odd = groups.odd_ones()
        if not odd or not self._repeatable(groups.judge()):
            return
        for number, reason in odd.items():
            if trials[number].milliseconds is not None:
                trials[number] = self._failed(self.configs[number], reason)

    def _repeatable(self, judge: tuple[int, list[torch.Tensor]]) -> bool:
        """Whether a candidate agrees with itself. One that draws random numbers does not, and proves nothing."""
        number, results = judge
        try:
            output = self.kernel_fn(self.configs[number])
            same = difference(results_of(output, self.memory.written()), results) is None
        finally:
            self.memory.put_back()
        if not same:
            _logger.info("%s: results differ from call to call, so candidates are not compared", self.name)
        return same


class _Groups:
    """Candidates by what they compute. The largest group is right, of several as large the one begun first."""

    def __init__(self) -> None:
        self._groups: list[tuple[list[torch.Tensor], list[int]]] = []

    def add(self, number: int, results: list[torch.Tensor]) -> None:
        for representative, members in self._groups:
            if difference(results, representative) is None:
                members.append(number)
                return
        self._groups.append(([result.clone() for result in results], [number]))

    def judge(self) -> tuple[int, list[torch.Tensor]]:
        """The first candidate of the group that is right, and its results."""
        results, members = max(self._groups, key=lambda group: len(group[1]))
        return members[0], results

    def odd_ones(self) -> dict[int, str]:
        """Why each candidate outside that group is wrong."""
        if len(self._groups) < 2:
            return {}
        right, results = self.judge()
        return {
            number: f"wrong result: {difference(other, results)} than with most candidates"
            for other, members in self._groups
            for number in members
            if right not in members
        }


def time_on_gpu(
    call: Callable[[], Any], prepare: Callable[[], None], warmup: int, repeats: int, device: torch.device
) -> float:
    """Median ms of a call by CUDA events, with `prepare` and a flush of the L2 cache before each."""
    with torch.cuda.device(device):
        flush = torch.empty(_FLUSHED_BYTES, dtype=torch.int8, device=device)
        for _ in range(max(warmup, 1)):
            prepare()
            call()
        times: list[float] = []
        for _ in range(max(repeats, 1)):
            prepare()
            flush.zero_()
            start, end = (torch.Event(device, enable_timing=True) for _ in range(2))
            start.record()
            call()
            end.record()
            end.synchronize()
            times.append(start.elapsed_time(end))
    return statistics.median(times)


def synchronize(device: torch.device) -> None:
    """Waits for a device; raises what its work has ended with."""
    torch.cuda.synchronize(device)
