"""What a real cluster answered to the session, masked: `transcript.txt`, recorded on Kubernetes 1.36.3.

Record it anew with `python -m tests.e2e.kubectl.recording KUBECONFIG`, on a cluster that may run a few pods.
"""

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.e2e.kubectl import playing
from tests.e2e.kubectl.session import SESSION

TRANSCRIPT = Path(__file__).parent / "transcript.txt"
_BETWEEN, _PROMPT = "\n\n", "$ kubectl "


def recorded() -> list[str]:
    """One entry for each command of the session, as `Answer` writes it."""
    return TRANSCRIPT.read_text().rstrip("\n").split(_BETWEEN + _PROMPT)


def differences(answers: Sequence[playing.Answer]) -> list[str]:
    """For each command that was answered otherwise: what was recorded, and what came."""
    wanted = [text.removeprefix(_PROMPT) for text in recorded()]
    came = [str(answer).removeprefix(_PROMPT) for answer in answers]
    if len(wanted) != len(came):
        return [f"{len(wanted)} commands are recorded and {len(came)} were played: record the session anew"]
    return [
        f"recorded:\n{one}\ncame:\n{other}" for one, other in zip(wanted, came, strict=True) if one != other
    ]


def entries(texts: list[str]) -> str:
    return _BETWEEN.join(texts) + "\n"


def record(kubeconfig: str) -> None:
    """Play the session, and keep what was answered."""
    kubectl, why = playing.find()
    if not kubectl:
        sys.exit(why)
    with tempfile.TemporaryDirectory() as home:
        answers = [str(answer) for answer in playing.play(kubectl, kubeconfig, SESSION, home)]
    TRANSCRIPT.write_text(entries(answers))


if __name__ == "__main__":
    record(sys.argv[1])
