"""What every certificate that a theorem module hands back must stand: written to files, checked by the kernel alone."""

import re
from pathlib import Path

from proofcheck import kernel
from proofcheck.kernel.check import VERIFIED, check_files

TRUST = Path(kernel.__file__).with_name("TRUST.md")
HEADINGS = set(re.findall(r"^## (.*)$", TRUST.read_text("utf-8"), re.MULTILINE))


def verified(shown, folder):
    """Name -> report. All are verified, nothing is assumed, and what the audit says about them is what they say."""
    paths = shown.bundle.write(folder)
    reports = dict(zip(shown.bundle.certificates, check_files([str(path) for path in paths]), strict=True))
    for name, report in reports.items():
        assert report.status == VERIFIED, f"{name}: {report.message}"
        assert report.verdict.assumed == []
        assert report.path == str(folder / f"{name}.json")
        assert report.certificate.id == shown.bundle.certificates[name].id
    assert shown.main
    assert set(shown.main) <= set(reports)
    assert len(set(shown.main)) == len(shown.main)
    assert shown.arguments
    assert set(shown.arguments) <= HEADINGS
    used = {identity for report in reports.values() for identity, _ in report.certificate.uses.values()}
    idle = [name for name, report in reports.items() if name not in shown.main and report.certificate.id not in used]
    assert not idle, f"nothing rests on {idle}"
    return reports


def of_claim(shown, claim):
    """The certificates of one claim, in the order of the bundle."""
    return [certificate for _, certificate in shown.bundle if certificate.claim == claim]
