"""A process that is ended before it has begun ends well: each component's, while its libraries are imported."""

import signal
import subprocess
import sys

import pytest

API = ("--api", "http://127.0.0.1:1")
COMMANDS = {
    "extender": ("numpy.linalg", "gpuyard_extender.__main__", *API),
    "device plugin": ("grpc", "gpuyard_device_plugin.__main__", *API, "--node-name", "n", "--yard", "y"),
    "operator": ("aiohttp.helpers", "gpuyard_operator.__main__", *API, "--extender", "http://127.0.0.1:1"),
    "cluster": ("cryptography.x509.base", "gpuyard_cli.main", "up"),
}
"""By component: a library that it imports, its entry point, and arguments."""


@pytest.mark.parametrize(
    ("component", "number"),
    [*((component, signal.SIGTERM) for component in COMMANDS), ("cluster", signal.SIGINT)],
)
def test_a_signal_during_the_imports_ends_with_0(component: str, number: int) -> None:
    library, module, *arguments = COMMANDS[component]
    # The interpreter names each module on stderr once it is imported: thus it is known how far it is.
    run = f"import sys; from {module} import main; sys.exit(main())"
    command = [sys.executable, "-X", "importtime", "-c", run, *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if line.rstrip().endswith(f" {library}"):
                process.send_signal(number)
                break
        else:
            pytest.fail(f"{component} does not import {library}")
        printed, complaint = process.communicate(timeout=30)
    assert (process.returncode, printed) == (0, "")
    assert "Traceback" not in complaint
