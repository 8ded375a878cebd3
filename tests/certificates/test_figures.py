"""The certificates of the figures: all of them hold, and they are what is made today."""

import pytest

from paper_repro.certificates.checker import report
from paper_repro.paths import FIGURES
from paper_repro.reproduce import certificates

FILES = sorted((FIGURES / "certificates").glob("*.json"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_certificate_of_the_figures_holds(path):
    assert report([str(path)]) == 0


def test_they_are_made_again_byte_for_byte(monkeypatch):
    monkeypatch.setattr(certificates, "source_set_names", lambda: ["P_II_4", "P_IIIa_6"])
    made = certificates.figure_certificates()
    assert len(FILES) > 16 and len(made) == 6
    for name, content in made.items():
        assert (FIGURES / "certificates" / name).read_bytes() == content
