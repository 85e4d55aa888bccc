"""Ways to run the command line: in this process (quick, for many inputs) and as a process of its own (the truth)."""

import subprocess
import sys

from typer.testing import CliRunner

from proofcheck.cli.app import app


def inside(*arguments):
    """In this process. An exception that would be a traceback fails the test here."""
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise AssertionError(f"traceback from {arguments}") from result.exception
    return result


def outside(*arguments, options=(), cwd=None, environment=None, seconds=120):
    """`python -m proofcheck ...` as a user starts it."""
    done = subprocess.run(
        [sys.executable, *options, "-m", "proofcheck", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
        cwd=cwd,
        env=environment,
    )
    assert "Traceback" not in done.stderr + done.stdout, done.stderr
    return done


def files(folder):
    """Name -> bytes of everything in a folder, temporary files included."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}
