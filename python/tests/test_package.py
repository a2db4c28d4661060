"""The metadata of the installed package."""

import importlib.metadata
import pathlib

FOLDER = next(at for at in pathlib.Path(__file__).resolve().parents if (at / "assets" / "torus-knot.obj").exists())


def test_the_package_has_the_licences():
    package = importlib.metadata.distribution("trivox")
    assert package.metadata["License-Expression"] == "MIT OR Apache-2.0"
    names = ["LICENSE-APACHE", "LICENSE-MIT"]
    assert sorted(package.metadata.get_all("License-File")) == names
    for name in names:
        assert package.read_text(f"licenses/{name}") == (FOLDER / name).read_text()
