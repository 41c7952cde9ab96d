"""The module that links libtorch. It exists for the torch version it was built with."""

import pytest
import torch

_VERSION = "_".join(torch.__version__.split(".")[:2])
built = pytest.importorskip(f"tilegym_rs._torch_{_VERSION}", reason=f"not built for torch {torch.__version__}")


def test_the_module_names_the_torch_it_was_built_for():
    assert built.built_for_torch.split("+")[0] == torch.__version__.split("+")[0]
