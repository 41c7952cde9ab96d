"""Picks the fastest of several configurations of a kernel, once per key.

A choice holds for the process, and by a record in the cache folder for later ones (tilegym_rs.tuning). On the CPU
device nothing is tuned: its times say nothing about a GPU, so the first configuration is used.
"""

from __future__ import annotations

import datetime
import functools
import os
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import torch

from tilegym.autotune import DISABLE_AUTOTUNE_ENV, is_autotune_disabled
from tilegym.backend.cutile_rs import utils
from tilegym.backend.cutile_rs.tuning import subject as subjects
from tilegym.backend.cutile_rs.tuning.memory import CallerMemory, tensors_in
from tilegym.backend.cutile_rs.tuning.search import Search
from tilegym.backend.cutile_rs.tuning.turns import turn
from tilegym.logger import get_logger

if TYPE_CHECKING:
    from tilegym_rs import tuning

_logger = get_logger(__name__)

_cache: dict[tuple[str, Any, str], _Winner] = {}
_lock = threading.Lock()


@dataclass(frozen=True)
class TunedResult:
    """What a tuned call returned.

    Attributes:
        best_config: the configuration in use.
        output: what `kernel_fn(best_config)` returned.
        tuning_record: (configuration, median ms) for each that ran; empty where nothing was timed.
        cache_hit: whether the choice had been made before, in this process or by a record on disk.
        failures: (configuration, reason) for each that could not run or computed something else.
    """

    best_config: Any
    output: Any
    tuning_record: list[tuple[Any, float]] = field(default_factory=list)
    cache_hit: bool = False
    failures: list[tuple[Any, str]] = field(default_factory=list)


@dataclass(frozen=True)
class _Winner:
    config: Any
    record: list[tuple[Any, float]]
    failures: list[tuple[Any, str]]
    from_disk: bool = False


@dataclass(frozen=True)
class _Request:
    """One choice to make."""

    kernel_fn: Callable[[Any], Any]
    configs: Sequence[Any]
    key: Any
    name: str
    device: torch.device
    warmup: int = 2
    repeats: int = 10
    writes: Sequence[torch.Tensor] | None = None
    tensors: Sequence[Any] = ()


def autotune_launch(
    kernel_fn: Callable[[Any], Any],
    configs: Sequence[Any],
    key: Any,
    kernel_name: str = "unknown",
    warmup: int = 2,
    rep: int = 10,
    kernel_filter: object = None,
    *,
    device: torch.device | None = None,
    writes: Sequence[torch.Tensor] | None = None,
) -> TunedResult:
    """Runs a kernel with the best of `configs`, timing them at the first call for `key` on a GPU.

    The caller's tensors end up as after one call: what candidates write is put back before each try. A candidate that
    raises, or whose result differs from that of most others, is named in the log and in `failures` and passed over.

    Args:
        kernel_fn: launches the kernel with one configuration and returns its output.
        configs: candidates, the one to use untuned first.
        key: whatever decides the choice (shapes, dtypes, strides); the device, the toolchain and the candidates are
            added to it. The choice is kept on disk where key and candidates are made of numbers, texts, dtypes,
            dataclasses and containers.
        kernel_name: names the kernel in records and in messages.
        warmup: calls before timing, per candidate.
        rep: timed calls per candidate.
        kernel_filter: accepted for callers of the profiler-based tuner, without effect.
        device: the tensors' device; None is the current GPU, or the CPU device where there is none.
        writes: the caller's tensors that the kernel writes; None looks at those that `kernel_fn` can reach, which
            takes a copy of each while candidates are tried.

    Raises:
        ValueError: `configs` is empty.
        RuntimeError: no candidate ran, a candidate has left the device unusable, or there is no choice yet while a
            CUDA graph is captured.
    """
    request = _Request(kernel_fn, configs, key, kernel_name, _device_or_default(device), warmup, rep, writes)
    winner, hit = _choose(request)
    return TunedResult(winner.config, kernel_fn(winner.config), winner.record, hit, winner.failures)


def choose_config(
    kernel_fn: Callable[[Any], Any],
    configs: Sequence[Any],
    key: Any,
    kernel_name: str = "unknown",
    *,
    device: torch.device | None = None,
    writes: Sequence[torch.Tensor] | None = None,
    tensors: Sequence[Any] = (),
) -> Any:
    """The configuration that autotune_launch would use; the kernel runs only where it has to be timed.

    `tensors` are those of a launch, to be described in the record.
    """
    device = _device_or_default(device)
    request = _Request(kernel_fn, configs, key, kernel_name, device, writes=writes, tensors=tensors)
    return _choose(request)[0].config


def is_recording() -> bool:
    """Whether `tilegym-rs aot` runs this program, to learn what it would launch on a GPU."""
    return bool(os.environ.get("TILEGYM_RS_CACHE_RECORD")) and not is_autotune_disabled()


def _device_or_default(device: torch.device | None) -> torch.device:
    if device is None:
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if device.type == "cuda" and device.index is None:
        device = torch.device("cuda", torch.cuda.current_device())
    return device


def _choose(request: _Request) -> tuple[_Winner, bool]:
    """The choice, and whether it had been made before."""
    configs, name = request.configs, request.name
    if not configs:
        raise ValueError(f"{name}: wanted at least one configuration to choose from, got none")
    if len(configs) == 1 or request.device.type != "cuda" or is_autotune_disabled():
        if is_recording():
            _launch_others(request)
        return _Winner(configs[0], [], []), False
    cache_key = (name, request.key, _search_space(request.device, tuple(configs)))
    winner = _cache.get(cache_key)
    if winner is not None:
        return winner, True
    return _find_or_tune(request, cache_key)


def _find_or_tune(request: _Request, cache_key: tuple[str, Any, str]) -> tuple[_Winner, bool]:
    subject = _subject(request)
    winner = _from_disk(request, subject)
    if winner is None and _is_capturing(request.device):
        raise RuntimeError(
            f"{request.name}: wanted a configuration chosen before a CUDA graph is captured, got none for "
            f"{request.key}: call it once outside the capture, or set {DISABLE_AUTOTUNE_ENV}=1"
        )
    if winner is None:
        with turn(request.name, subject.entry_key() if subject else repr(cache_key), subject is not None):
            winner = _cache.get(cache_key) or _from_disk(request, subject) or _tune(request, subject)
    with _lock:
        return _cache.setdefault(cache_key, winner), winner.from_disk


def _subject(request: _Request) -> tuning.Subject | None:
    """What a record would be about; None where it would mean nothing in another process."""
    try:
        return subjects.subject_of(request.name, request.key, request.device, request.configs)
    except subjects.NotPlainError as reason:
        _logger.info("%s: the choice is not kept on disk: its key or candidates hold %s", request.name, reason)
        return None


def _from_disk(request: _Request, subject: tuning.Subject | None) -> _Winner | None:
    from tilegym_rs import tuning

    record = tuning.find(subject) if subject is not None else None
    if record is None:
        return None
    _logger.debug("%s: configuration taken from a record of %s", request.name, record.made.get("time"))
    return _winner(request.configs, record.best, record.trials, from_disk=True)


def _winner(configs: Sequence[Any], best: int, trials: Sequence[tuning.Trial], *, from_disk: bool) -> _Winner:
    rows = list(zip(configs, trials, strict=True))
    timed = [(config, trial.milliseconds) for config, trial in rows if trial.milliseconds is not None]
    failures = [(config, trial.failure or "") for config, trial in rows if trial.milliseconds is None]
    return _Winner(configs[best], timed, failures, from_disk)


def _tune(request: _Request, subject: tuning.Subject | None) -> _Winner:
    from tilegym_rs import tuning

    reached = tensors_in(request.kernel_fn) if request.writes is None else request.writes
    try:
        memory = CallerMemory(reached, request.device)
    except torch.OutOfMemoryError as error:
        _logger.warning("%s: not tuned, no room for copies of what it may write: %s", request.name, error)
        return _Winner(request.configs[0], [], [])
    best, trials = Search(
        request.name, request.kernel_fn, request.configs, request.warmup, request.repeats, request.device, memory
    ).run()
    if subject is not None:
        tuning.store(tuning.Record(subject, best, trials, subjects.described(request.tensors), *_how(request)))
    return _winner(request.configs, best, trials, from_disk=False)


def _how(request: _Request) -> tuple[dict[str, Any], dict[str, Any]]:
    """The method of a record, and its origin."""
    method = {
        "clock": "cuda events",
        "statistic": "median",
        "warmup": request.warmup,
        "repeats": request.repeats,
        "cache": "L2 flushed before each call",
    }
    now = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
    return method, {"time": now, "torch": torch.__version__, "cuda": torch.version.cuda}


def _is_capturing(device: torch.device) -> bool:
    with torch.cuda.device(device):
        return torch.cuda.is_current_stream_capturing()


def _launch_others(request: _Request) -> None:
    """Launches what a GPU would choose from, so that it is compiled ahead of time."""
    for config in request.configs[1:]:
        try:
            request.kernel_fn(config)
        except RuntimeError as error:
            _logger.warning("%s: configuration %s cannot run: %s", request.name, config, error)


def _search_space(device: torch.device, configs: tuple[Any, ...]) -> str:
    """Device and candidates as text. Writing it takes longer than a launch, so it is kept where it can be."""
    try:
        return _kept_text(device, configs)
    except TypeError:  # a candidate without a hash
        return f"{device} {configs!r}"


@functools.lru_cache(maxsize=1024)
def _kept_text(device: torch.device, configs: tuple[Any, ...]) -> str:
    return f"{device} {configs!r}"


def clear_cache(kernel_name: str | None = None, key: Any = None, *, on_disk: bool = False) -> None:
    """Forgets choices: all, those of one kernel, those of one key, or those of one key of one kernel.

    Records on disk stay, and are used again, unless `on_disk`.
    """
    from tilegym_rs import tuning

    with _lock:
        for cached in list(_cache):
            if kernel_name in (None, cached[0]) and (key is None or key == cached[1]):
                del _cache[cached]
    if on_disk:
        tuning.clear(kernel_name, None if key is None else subjects.plain(key))
    utils.forget_plans()


def get_cache_stats() -> dict[str, dict[str, Any]]:
    """Per key chosen for: the configuration, its median ms, how many ran and how many failed, and whether a record on
    disk had the choice."""
    with _lock:
        return {
            str(key): {
                "best_config": str(winner.config),
                "best_ms": min((milliseconds for _, milliseconds in winner.record), default=None),
                "n_tested": len(winner.record),
                "n_failed": len(winner.failures),
                "from_disk": winner.from_disk,
            }
            for key, winner in _cache.items()
        }
