"""The entry point of `gpuyard-extender`: a signal ends it cleanly, also while its libraries are imported."""

from gpuyard_kube.endings import end_at_once


def main() -> None:
    """Run the command."""
    end_at_once()
    from gpuyard_extender.main import main as command

    command()


if __name__ == "__main__":
    main()
