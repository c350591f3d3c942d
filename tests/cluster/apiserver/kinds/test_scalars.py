import pytest

from gpuyard_cluster.apiserver.kinds.scalars import SCALARS, MismatchError


@pytest.mark.parametrize(
    ("kind", "given", "stored"),
    [
        ("quantity", "1024Mi", "1Gi"),
        ("quantity", 2, "2"),
        ("time", "2026-01-02T05:04:05.9+02:00", "2026-01-02T03:04:05Z"),
        ("microtime", "2026-01-02T03:04:05.678900+00:00", "2026-01-02T03:04:05.678900Z"),
        ("bytes", "aG\nk=\n", "aGk="),
        ("any", {"x": None}, {"x": None}),
        ("number", 1, 1),
    ],
)
def test_a_scalar_is_stored_in_its_canonical_form(kind: str, given: object, stored: object) -> None:
    assert SCALARS[kind](given, [], "spec.x") == stored


@pytest.mark.parametrize(
    ("kind", "given"),
    [
        ("quantity", "many"),
        ("quantity", True),
        ("time", "yesterday"),
        ("time", "2026-13-02T03:04:05Z"),
        ("time", 5),
        ("microtime", "2026-01-02T03:04:05Z"),
        ("bytes", "%%"),
        ("bytes", 1),
        ("int", True),
        ("int", 1.5),
        ("int", 2**63),
        ("string", 1),
        ("bool", "true"),
    ],
)
def test_a_value_of_another_type_is_refused_with_its_path(kind: str, given: object) -> None:
    with pytest.raises(MismatchError, match=r"^spec\.x: must be "):
        SCALARS[kind](given, [], "spec.x")
