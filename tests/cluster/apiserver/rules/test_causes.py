from gpuyard_cluster.apiserver.rules import causes


def test_causes_speak_kubernetes_words() -> None:
    assert causes.required("a").message == "Required value"
    assert causes.invalid("a", {"b": 1, "a": "x"}, "no").message == 'Invalid value: {"a":"x","b":1}: no'
    assert (
        causes.unsupported("a", "c", ("a", "b")).message
        == 'Unsupported value: "c": supported values: "a", "b"'
    )
    assert causes.too_many("a", 3, 2).message == "Too many: 3: must have at most 2 items"
    assert causes.too_long("a", 3).reason == "FieldValueTooLong"
    assert causes.duplicate("a", "x").message == 'Duplicate value: "x"'
    assert causes.forbidden("a", "never").reason == "FieldValueForbidden"
    assert causes.mistyped("a", 1, "no").reason == "FieldValueTypeInvalid"
