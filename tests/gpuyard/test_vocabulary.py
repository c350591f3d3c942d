import pytest

from gpuyard import vocabulary


@pytest.mark.parametrize(
    ("profile", "resource"),
    [
        ("1g.5gb", "nvidia.com/mig-1g.5gb"),
        ("1g.5gb+me", "nvidia.com/mig-1g.5gb.me"),
        ("1g.24gb+me.all", "nvidia.com/mig-1g.24gb.me.all"),
        ("1g.24gb-me", "nvidia.com/mig-1g.24gb-me"),
    ],
)
def test_a_mig_resource_is_named_as_nvidia_names_it(profile: str, resource: str) -> None:
    assert vocabulary.mig_resource(profile) == resource


def test_a_key_is_written_once() -> None:
    names = [value for name, value in vars(vocabulary).items() if name.isupper()]
    assert len(names) == len(set(names))
