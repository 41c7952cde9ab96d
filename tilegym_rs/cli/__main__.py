"""`python -m tilegym_rs.cli`, for environments without the installed command."""

import sys

from tilegym_rs.cli import main

sys.exit(main())
