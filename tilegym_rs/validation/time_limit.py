"""A limit on the time of a call, launches on the CPU device included: they stop as they do at Ctrl-C."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Iterator


class _Alarm:
    """Sends the signal of Ctrl-C unless the call has ended."""

    def __init__(self) -> None:
        self.fired = False
        self._ended = False
        self._lock = threading.Lock()

    def fire(self) -> None:
        with self._lock:
            if not self._ended:
                self.fired = True
                os.kill(os.getpid(), signal.SIGINT)

    def end(self) -> None:
        with self._lock:
            self._ended = True


@contextlib.contextmanager
def limited(seconds: float | None) -> Iterator[None]:
    """Ends its body after that many seconds; None is no limit. For the main thread only.

    Raises:
        TimeoutError: the time was up.
    """
    if seconds is None or threading.current_thread() is not threading.main_thread():
        yield
        return
    alarm = _Alarm()
    timer = threading.Timer(seconds, alarm.fire)
    timer.daemon = True
    timer.start()
    try:
        try:
            yield
        finally:
            alarm.end()
    except KeyboardInterrupt:
        if not alarm.fired:
            raise
        raise TimeoutError(f"took longer than {seconds:g} s") from None
    finally:
        timer.cancel()
