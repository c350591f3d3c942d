"""Whether a cluster answers the session as the recorded one did."""

from collections.abc import Sequence

from tests.e2e.kubectl.playing import Answer
from tests.e2e.kubectl.recording import recorded

_PROMPT = "$ kubectl "


def differences(answers: Sequence[Answer]) -> list[str]:
    """For each command that was answered otherwise: what was recorded, and what came."""
    wanted = [text.removeprefix(_PROMPT) for text in recorded()]
    came = [str(answer).removeprefix(_PROMPT) for answer in answers]
    if len(wanted) != len(came):
        return [f"{len(wanted)} commands are recorded and {len(came)} were played: record the session anew"]
    return [
        f"recorded:\n{one}\ncame:\n{other}" for one, other in zip(wanted, came, strict=True) if one != other
    ]
