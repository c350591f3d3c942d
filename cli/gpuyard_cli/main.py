"""The `gpuyard` command."""

import contextlib
import errno
import os
import signal
import sys
from collections.abc import Iterator, Sequence


def plugin() -> int:
    """The same for `kubectl gpuyard`: kubectl runs the program `kubectl-gpuyard`."""
    return main(prog="kubectl gpuyard")


def main(argv: Sequence[str] | None = None, *, prog: str = "gpuyard") -> int:
    """Run a command; what the exit code means is listed in `commands.EXIT_CODES`."""
    given = list(sys.argv[1:] if argv is None else argv)
    with _terminations() as terminated:
        try:
            code = _run(given or ["--help"], prog)
            sys.stdout.flush()
            return code
        except KeyboardInterrupt:
            return 143 if terminated else 130
        except BrokenPipeError:  # who read has gone, as `| head` does
            _drop_output()
            return 141
        except OSError as error:
            if error.errno != errno.ENOSPC or error.filename is not None:
                raise
            _drop_output()
            print("gpuyard: output: no space is left for it; write it to another place", file=sys.stderr)
            return 2


def _run(given: Sequence[str], prog: str) -> int:
    # Imported here: a signal may come meanwhile.
    from gpuyard.policies.installed import PolicyError
    from gpuyard_cli import commands
    from gpuyard_cli.inputs import InvalidInputError

    try:
        arguments = commands.parser(prog).parse_args(given)
        return int(arguments.run(arguments))
    except (InvalidInputError, PolicyError) as fault:
        print(f"gpuyard: {fault}", file=sys.stderr)
        return 2


def _drop_output() -> None:
    """Python would complain once more when it flushes at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextlib.contextmanager
def _terminations() -> Iterator[list[int]]:
    """SIGTERM ends as Ctrl-C does, which asyncio turns into the end of what it runs; the list is no more empty then.

    An exception raised by a handler of our own would come up in whatever task is at work at the moment.
    """
    came = list[int]()

    def end(number: int, _frame: object) -> None:
        came.append(number)
        if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
            # A script's shell lets what it starts with & ignore Ctrl-C; SIGTERM is meant all the same.
            signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.raise_signal(signal.SIGINT)

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield came
    finally:
        signal.signal(signal.SIGTERM, before)
