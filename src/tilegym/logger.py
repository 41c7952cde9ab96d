"""Logging of the package: one logger per name below "tilegym", level from TILEGYM_LOG_LEVEL."""

from __future__ import annotations

import logging
import os
import sys
import threading

_LEVELS = {
    "DEBUG": logging.DEBUG,
    "INFO": logging.INFO,
    "WARN": logging.WARNING,
    "WARNING": logging.WARNING,
    "ERROR": logging.ERROR,
    "FATAL": logging.CRITICAL,
    "CRITICAL": logging.CRITICAL,
}
_ROOT = "tilegym"
_FORMAT = "[%(asctime)s] [%(name)s] [%(levelname)s] [%(filename)s:%(lineno)d] %(message)s"

_warned: set[str] = set()
_lock = threading.Lock()


class _CurrentStderr(logging.Handler):
    """Writes to the stderr of the moment, so that redirected and captured streams see the text."""

    def emit(self, record: logging.LogRecord) -> None:
        try:
            print(self.format(record), file=sys.stderr)
        except Exception:  # a log line must not end the program
            self.handleError(record)


def _parse_level(level: int | str, origin: str) -> int:
    if isinstance(level, int):
        return level
    try:
        return _LEVELS[level.strip().upper()]
    except KeyError:
        raise ValueError(f"{origin} must be one of {', '.join(_LEVELS)}; got {level!r}") from None


def _root_logger() -> logging.Logger:
    root = logging.getLogger(_ROOT)
    with _lock:
        if not root.handlers:
            handler = _CurrentStderr()
            handler.setFormatter(logging.Formatter(_FORMAT))
            root.addHandler(handler)
            root.propagate = False
            root.setLevel(_level_from_environment())
    return root


def _level_from_environment() -> int:
    text = os.environ.get("TILEGYM_LOG_LEVEL", "INFO")
    try:
        return _parse_level(text, "TILEGYM_LOG_LEVEL")
    except ValueError as error:
        print(f"tilegym: {error}; using INFO", file=sys.stderr)
        return logging.INFO


def get_logger(name: str = _ROOT) -> logging.Logger:
    """The logger of that name; names outside the package are placed below it."""
    root = _root_logger()
    if name == _ROOT:
        return root
    return logging.getLogger(name if name.startswith(_ROOT + ".") else f"{_ROOT}.{name}")


def warn_once(message: str, category: str | None = None) -> None:
    """Logs a warning the first time that this message (of this category) is seen in the process."""
    text = f"[{category}] {message}" if category else message
    with _lock:
        if text in _warned:
            return
        _warned.add(text)
    get_logger().warning(text, stacklevel=2)


def set_log_level(level: int | str) -> None:
    """Sets the level of all the package's loggers, by number or by name.

    Raises:
        ValueError: the name is not a level.
    """
    _root_logger().setLevel(_parse_level(level, "log level"))


def set_env_log_level(level: str) -> None:
    """Like set_log_level, and sets TILEGYM_LOG_LEVEL for child processes.

    Raises:
        ValueError: the name is not a level.
    """
    set_log_level(level)
    os.environ["TILEGYM_LOG_LEVEL"] = level.strip().upper()
