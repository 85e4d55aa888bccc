"""The typer application: every command, and the translation of the package's errors into exit statuses."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable
from typing import Any

import typer

from proofcheck import __version__
from proofcheck.errors import FAILS, USAGE, ProofcheckError
from proofcheck.kernel.exact import Malformed, OverBudget, Rejected

from . import audit, bound, collide, experiment, heads, lemma3, paper, plan, search, sweep, theorems, transcript, verify
from .options import writable

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="Machine-checks, sharpens and applies the theory of what one nonnegative attention head can select.\n\n"
    "Exit status: 0 proved or verified, 1 rejected or refuted, 2 usage, 3 conditional, 4 malformed input.",
)


def _guarded(command: Callable[..., int]) -> Callable[..., None]:
    """A command returns its exit status; the package's errors become one line on standard error."""

    @functools.wraps(command)
    def run(*arguments: Any, **options: Any) -> None:
        try:
            if "out" in options and not options.get("ledger"):  # the ledger is only read
                writable(options["out"])
            status = command(*arguments, **options)
        except KeyboardInterrupt:
            typer.echo("proofcheck: interrupted; what was written so far is complete", err=True)
            status = 130
        except ProofcheckError as error:
            typer.echo(f"proofcheck: {error}", err=True)
            status = error.status
        except OverBudget as error:
            typer.echo(
                f"proofcheck: the certificate would be too large for the kernel: {error}; ask for less", err=True
            )
            status = USAGE
        except (Rejected, Malformed) as error:  # a producer's certificate did not survive the kernel: never a result
            typer.echo(f"proofcheck: the kernel refused a certificate just made: {error}", err=True)
            status = FAILS
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or the shutdown would complain again
            status = FAILS
        except OSError as error:
            typer.echo(f"proofcheck: {error.filename or 'a file'}: {error.strerror or error}", err=True)
            status = 2
        raise typer.Exit(status)

    return run


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"proofcheck {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Print the version."),
) -> None:
    pass


app.command("lemma3")(_guarded(lemma3.command))
app.command("bound")(_guarded(bound.command))
app.command("refute")(_guarded(heads.refute))
app.command("certify")(_guarded(heads.certify))
app.command("heads")(_guarded(heads.heads))
app.command("audit")(_guarded(audit.command))
app.command("paper")(_guarded(paper.command))
app.command("plan")(_guarded(plan.command))
app.command("search")(_guarded(search.command))
app.command("sweep")(_guarded(sweep.command))
app.command("verify")(_guarded(verify.command))
for command in (
    theorems.theorem1,
    theorems.theorem2,
    theorems.lemma4,
    theorems.theorem5,
    theorems.theorem6,
    theorems.corollary7,
    theorems.theorem8,
    theorems.theorem9,
    theorems.proposition10,
    theorems.domination,
    theorems.chain,
):
    app.command(command.__name__)(_guarded(command))

experiments = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="The paper's experiments, run again: resumable, with figures and a table paper / here.",
)
experiments.command("finite-family")(_guarded(experiment.finite_family))
experiments.command("ood")(_guarded(experiment.out_of_distribution))
app.add_typer(experiments, name="experiment")

transcripts = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Finite precision: bits that must cross between tokens, and inputs that a model cannot tell apart.",
)
transcripts.command("bound")(_guarded(transcript.bound))
transcripts.command("collide")(_guarded(collide.collide))
app.add_typer(transcripts, name="transcript")


def main() -> None:
    """Entry point of `proofcheck` and `python -m proofcheck`."""
    app()
