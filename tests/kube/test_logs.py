"""A component logs lines for people, or one JSON object a line for machines."""

import json
import subprocess
import sys

PROGRAM = """
import logging, sys
from gpuyard_kube import logs
logs.configure(sys.argv[1])
log = logging.getLogger("gpuyard.test")
log.debug("too quiet")
log.info("%d nodes", 3)
try:
    raise ValueError("broken")
except ValueError:
    log.exception("failed")
"""


def logged(form: str) -> list[str]:
    done = subprocess.run([sys.executable, "-c", PROGRAM, form], capture_output=True, text=True, check=True)
    assert done.stdout == "", "stdout belongs to the program"
    return done.stderr.splitlines()


def test_for_people_there_is_a_line_a_record_with_level_and_name() -> None:
    first, second, *trace = logged("text")
    assert first.endswith("INFO gpuyard.test: 3 nodes")
    assert second.endswith("ERROR gpuyard.test: failed")
    assert trace[-1] == "ValueError: broken"


def test_for_machines_every_line_is_an_object_also_with_an_exception() -> None:
    first, second = map(json.loads, logged("json"))
    assert (first["level"], first["logger"], first["message"]) == ("info", "gpuyard.test", "3 nodes")
    assert "exception" not in first
    assert second["exception"].endswith("ValueError: broken")
    assert first["time"].endswith("+00:00")
