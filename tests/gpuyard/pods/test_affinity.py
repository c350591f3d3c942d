import pytest

from gpuyard.pods.affinity import Requirement, Taint, Term, Toleration

LABELS = {"zone": "a", "gen": "8", "word": "x"}


@pytest.mark.parametrize(
    ("key", "operator", "values", "met"),
    [
        ("zone", "In", ("a", "b"), True),
        ("zone", "In", ("b",), False),
        ("absent", "In", ("a",), False),
        ("zone", "NotIn", ("b",), True),
        ("zone", "NotIn", ("a",), False),
        ("absent", "NotIn", ("a",), True),
        ("zone", "Exists", (), True),
        ("absent", "Exists", (), False),
        ("absent", "DoesNotExist", (), True),
        ("zone", "DoesNotExist", (), False),
        ("gen", "Gt", ("7",), True),
        ("gen", "Gt", ("8",), False),
        ("gen", "Lt", ("9",), True),
        ("word", "Gt", ("1",), False),
        ("absent", "Lt", ("1",), False),
        ("gen", "Gt", (), False),
        ("gen", "Gt", ("1", "2"), False),
        ("zone", "Near", ("a",), False),
    ],
)
def test_a_requirement_reads_labels_as_kubernetes_does(
    key: str, operator: str, values: tuple[str, ...], met: bool
) -> None:
    assert Requirement(key, operator, values).matches(LABELS) is met


def test_a_term_needs_every_label_and_field() -> None:
    found = {
        "matchExpressions": [{"key": "zone", "operator": "In", "values": ["a"]}],
        "matchFields": [{"key": "metadata.name", "operator": "In", "values": ["node-1"]}],
    }
    assert Term.of(found).matches("node-1", LABELS)
    assert not Term.of(found).matches("node-2", LABELS)
    assert not Term.of(found).matches("node-1", {})


@pytest.mark.parametrize("empty", [None, {}, {"matchExpressions": None}])
def test_an_empty_term_matches_no_node(empty: dict[str, object] | None) -> None:
    assert not Term.of(empty).matches("node-1", LABELS)


@pytest.mark.parametrize(
    ("toleration", "tolerated"),
    [
        ({"key": "gpu", "value": "yes", "effect": "NoSchedule"}, True),
        ({"key": "gpu", "operator": "Equal", "value": "yes"}, True),
        ({"key": "gpu", "operator": "Exists"}, True),
        ({"operator": "Exists"}, True),
        ({"key": "gpu", "value": "no"}, False),
        ({"key": "other", "operator": "Exists"}, False),
        ({"key": "gpu", "operator": "Exists", "effect": "NoExecute"}, False),
        ({}, False),
        ({"key": "gpu", "operator": "Near", "value": "yes"}, False),
    ],
)
def test_a_toleration_covers_a_taint_by_key_value_and_effect(
    toleration: dict[str, str], tolerated: bool
) -> None:
    taint = Taint.of({"key": "gpu", "value": "yes", "effect": "NoSchedule"})
    assert Toleration.of(toleration).tolerates(taint) is tolerated


def test_only_hard_taints_repel() -> None:
    effects = ("NoSchedule", "NoExecute", "PreferNoSchedule")
    assert [Taint("k", "", effect).repels for effect in effects] == [True, True, False]
