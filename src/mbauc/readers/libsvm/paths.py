"""Which files are LIBSVM text, by their names, and which of them a folder holds."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from mbauc.readers.compressed import strip_ending

_ENDINGS = (".libsvm", ".svm", ".svmlight")


def is_libsvm_name(path: Path) -> bool:
    """Whether a file is LIBSVM text by its name."""
    return strip_ending(path).name.lower().endswith(_ENDINGS)


def find_libsvm(paths: Any) -> list[Any]:
    """The paths, each folder replaced by its LIBSVM files at any depth, sorted; an error if it has none."""
    found: list[Any] = []
    for path in [paths] if isinstance(paths, str | bytes | os.PathLike) else paths:
        folder = Path(os.fsdecode(path))
        if not folder.is_dir():
            found.append(path)
            continue
        files = sorted(
            file
            for file in folder.rglob("*")
            if is_libsvm_name(file)
            and file.is_file()
            and not any(part.startswith((".", "_")) for part in file.relative_to(folder).parts)
        )
        if not files:
            raise FileNotFoundError(
                f"{folder} has no LIBSVM files ({', '.join(_ENDINGS)}, also compressed); name the files."
            )
        found += files
    return found
