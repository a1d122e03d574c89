"""Build dist/ twice, check it, and try the wheel in environments that hold nothing else (``make dist``).

One has the newest versions of the declared dependencies; one, for the Python that is named, the oldest.
"""

import argparse
import hashlib
import os
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DIST = ROOT / "dist"
#: What an sdist must hold so that the wheel can be built and the tests run from it, and what it must not.
NEEDED = ("pyproject.toml", "LICENSE", "Makefile", "src/mbauc/py.typed", "tests/conftest.py", "docs/conf.py")
UNWANTED = ("__pycache__", "_build", "benchmarks/files", ".pyc", "docs/gallery", ".venv")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--oldest-python", default="python3.11", help="interpreter for the oldest versions")
    oldest_python = parser.parse_args().oldest_python
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    stem = f"{project['name']}-{project['version']}"
    for old in DIST.glob("*"):
        old.unlink()
    with tempfile.TemporaryDirectory() as folder:
        again = Path(folder, "again")
        _build(DIST)
        _build(again)
        built = sorted(path.name for path in DIST.iterdir())
        if built != [f"{stem}-py3-none-any.whl", f"{stem}.tar.gz"]:
            sys.exit(f"expected one wheel and one sdist of {stem}, got {built}")
        for name in built:
            digests = [hashlib.sha256((place / name).read_bytes()).hexdigest() for place in (DIST, again)]
            if digests[0] != digests[1]:
                sys.exit(f"{name} is not reproducible: {' and '.join(digests)}")
        wheel, sdist = (DIST / name for name in built)
        _check_wheel(wheel, stem)
        _check_sdist(sdist, stem)
        _run(sys.executable, "-m", "twine", "check", "--strict", str(wheel), str(sdist))
        _run(str(Path(sys.executable).parent / "check-wheel-contents"), str(wheel))
        _try(wheel, Path(folder, "newest"), sys.executable, "highest")
        _try(wheel, Path(folder, "oldest"), oldest_python, "lowest-direct")
    for path in (wheel, sdist):
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        print(f"{digest}  {path.relative_to(ROOT)}  {path.stat().st_size:,} bytes")


def _build(out: Path) -> None:
    """The sdist, and the wheel from it: what the sdist lacks, the wheel lacks as well."""
    found = subprocess.run(
        ["git", "log", "-1", "--format=%ct"], cwd=ROOT, capture_output=True, text=True, check=False
    ).stdout.strip()
    # without a checkout, the time that the build backend takes for its default
    dated = {"SOURCE_DATE_EPOCH": found} if found else {}
    _run(
        sys.executable, "-m", "build", "--outdir", str(out), str(ROOT), env={**dated, **os.environ}, quiet=True
    )


def _check_wheel(wheel: Path, stem: str) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    strange = [name for name in names if not name.startswith(("mbauc/", f"{stem}.dist-info/"))]
    if strange:
        sys.exit(f"the wheel holds more than the package: {strange[:5]}")
    for needed in ("mbauc/py.typed", f"{stem}.dist-info/licenses/LICENSE"):
        if needed not in names:
            sys.exit(f"the wheel lacks {needed}")
    sources = {path.relative_to(ROOT / "src").as_posix() for path in (ROOT / "src" / "mbauc").rglob("*.py")}
    if missing := sorted(sources - set(names)):
        sys.exit(f"the wheel lacks {missing[:5]}")


def _check_sdist(sdist: Path, stem: str) -> None:
    with tarfile.open(sdist) as archive:
        names = [name.removeprefix(f"{stem}/") for name in archive.getnames()]
    if missing := [name for name in NEEDED if name not in names]:
        sys.exit(f"the sdist lacks {missing}")
    if strange := [name for name in names if any(part in name for part in UNWANTED)]:
        sys.exit(f"the sdist holds {strange[:5]}")


def _try(wheel: Path, folder: Path, interpreter: str, resolution: str) -> None:
    """Install the wheel with its declared dependencies alone, and use it from outside of the tree."""
    uv = str(Path(sys.executable).parent / "uv")
    python = str(folder / "bin" / "python")
    _run(uv, "venv", "--quiet", "--python", interpreter, str(folder))
    _run(uv, "pip", "install", "--quiet", "--python", python, "--resolution", resolution, str(wheel))
    _run(uv, "pip", "check", "--python", python)
    work = folder / "work"
    work.mkdir()
    clean = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    _run(
        python,
        "-I",
        "-W",
        "error::DeprecationWarning:mbauc",
        str(ROOT / ".ci" / "smoke.py"),
        cwd=work,
        env=clean,
    )


def _run(*command: str, quiet: bool = False, **options: object) -> None:
    done = subprocess.run(command, stdout=subprocess.PIPE if quiet else None, text=True, check=False, **options)
    if done.returncode:
        sys.stderr.write(done.stdout or "")
        sys.exit(f"failed: {' '.join(command)}")


if __name__ == "__main__":
    main()
