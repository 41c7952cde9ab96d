"""Loaded by the Python processes that tests start: they see the same devices as the tests."""

import cpu_torch_plugin  # noqa: F401
