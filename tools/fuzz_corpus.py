"""Packs a corpus of fuzzing inputs into one file, and unpacks it: each input's length in four bytes, then its bytes.

python tools/fuzz_corpus.py pack FOLDER FILE
python tools/fuzz_corpus.py unpack FILE FOLDER
"""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path


def pack(folder: Path, file: Path) -> int:
    """Writes the inputs of a folder, the shortest first; returns their number."""
    inputs = sorted((path.read_bytes() for path in folder.iterdir()), key=lambda data: (len(data), data))
    file.write_bytes(b"".join(len(data).to_bytes(4, "little") + data for data in inputs))
    return len(inputs)


def unpack(file: Path, folder: Path) -> int:
    """Writes each input under its SHA-1, as libFuzzer does; returns their number."""
    folder.mkdir(parents=True, exist_ok=True)
    packed, count, at = file.read_bytes(), 0, 0
    while at < len(packed):
        size = int.from_bytes(packed[at : at + 4], "little")
        data = packed[at + 4 : at + 4 + size]
        if at + 4 + size > len(packed):
            raise SystemExit(f"{file}: wanted {size} bytes at byte {at + 4}, got {len(data)}; restore the file")
        (folder / hashlib.sha1(data, usedforsecurity=False).hexdigest()).write_bytes(data)
        count, at = count + 1, at + 4 + size
    return count


def main() -> None:
    match sys.argv[1:]:
        case ["pack", folder, file]:
            count = pack(Path(folder), Path(file))
        case ["unpack", file, folder]:
            count = unpack(Path(file), Path(folder))
        case _:
            raise SystemExit(__doc__)
    print(f"{count} inputs")


if __name__ == "__main__":
    main()
