"""JSON and YAML bodies, duplicate fields and compression."""

import gzip
import json
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gpuyard_cluster.apiserver.errors import ApiError
from gpuyard_cluster.apiserver.wire.encoding import GZIP_THRESHOLD, MAX_DEPTH, compressed, decode, to_yaml

JSON, YAML = "application/json", "application/yaml"

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**40), 2**40) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@settings(deadline=None, max_examples=80)
@given(VALUES)
def test_json_has_duplicates_only_where_a_field_comes_twice(value: Any) -> None:
    for text in (json.dumps(value), json.dumps(value, ensure_ascii=False)):
        body = decode(text.encode(), JSON)
        assert (body.value, body.duplicates) == (value, ())


@example({"0E0": "1e3", "y": "0o7", "2001-01-01": "1:30"})
@settings(deadline=None, max_examples=80)
@given(VALUES)
def test_what_is_written_as_yaml_reads_back(value: Any) -> None:
    body = decode(to_yaml(value), YAML)
    assert (body.value, body.duplicates) == (value, ())


def test_the_last_of_two_equal_fields_counts_and_the_path_is_told() -> None:
    text = b'{"metadata":{"name":"a"},"data":{"x":"1","x":"2"},"l":[{"k":1,"k":{"n":1,"n":2}}]}'
    body = decode(text, JSON)
    assert body.value["data"] == {"x": "2"}
    assert body.duplicates == ("data.x", "l[0].k", "l[0].k.n")


def test_escaped_quotes_do_not_hide_a_duplicate() -> None:
    assert decode(rb'{"a":"x","a":"\u0022\u0022\u0022\u0022"}', JSON).duplicates == ("a",)
    assert decode(rb'{"a":"\u0022","b":"\""}', JSON).duplicates == ()


def test_yaml_is_read_as_kubernetes_reads_it() -> None:
    text = b"""
    when: 2026-01-02T03:04:05Z
    ratio: 1:30
    mode: 0644
    many: 1e3
    half: 0.5
    'yes': yes
    1: one
    true: t
    text: "1"
    empty:
    """
    assert decode(text, YAML).value == {
        "when": "2026-01-02T03:04:05Z",
        "ratio": "1:30",
        "mode": 420,
        "many": 1000,
        "half": 0.5,
        "yes": True,
        "1": "one",
        "true": "t",
        "text": "1",
        "empty": None,
    }


def test_yaml_tells_duplicates_and_takes_json() -> None:
    assert decode(b"data:\n  x: 1\n  x: 2\n", YAML).duplicates == ("data.x",)
    assert decode(b'{"a": [1, {"b": "c"}]}', YAML).value == {"a": [1, {"b": "c"}]}


def test_an_aliased_part_is_a_part_of_its_own_each_time() -> None:
    value = decode(b"a: &x {n: 1}\nb: *x\nc:\n  <<: *x\n  m: 2\n", YAML).value
    assert value == {"a": {"n": 1}, "b": {"n": 1}, "c": {"n": 1, "m": 2}}
    assert value["a"] is not value["b"]


def test_strings_that_look_like_something_else_are_quoted() -> None:
    assert to_yaml({"b": "yes", "a": "1"}) == b"a: '1'\nb: 'yes'\n"


BOMB = b"a: &a [x,x,x,x,x,x,x,x,x]\n" + b"".join(
    b"%c: &%c [%s]\n" % (98 + at, 98 + at, b",".join([b"*%c" % (97 + at)] * 9)) for at in range(9)
)


@pytest.mark.parametrize(
    ("body", "media"),
    [
        (b"", JSON),
        (b'{"metadata":', JSON),
        (b"[1", JSON),
        (b'{"a": NaN}', JSON),
        (b'"\xff"', JSON),
        (b"[" * 3000, JSON),
        (b"a: [", YAML),
        (b"a: 1\n---\nb: 2\n", YAML),
        (b"a: !!python/object:os.system x", YAML),
        (b"\x00", YAML),
        (b"&a [*a]", YAML),
        (b"a: 1" + b"0" * 30, YAML),
        (b"a: 1e999", YAML),
        (b'a: "\\ud800"', YAML),
        (BOMB, YAML),
    ],
)
def test_a_malformed_body_is_a_bad_request(body: bytes, media: str) -> None:
    with pytest.raises(ApiError) as refused:
        decode(body, media)
    assert refused.value.code == 400


def test_another_media_type_names_those_accepted() -> None:
    with pytest.raises(ApiError) as refused:
        decode(b"{}", "text/plain")
    assert (refused.value.code, refused.value.reason) == (415, "UnsupportedMediaType")
    assert "accepted media types include: application/json" in refused.value.message


def test_large_bodies_are_compressed_for_clients_that_take_it() -> None:
    large = b"y" * GZIP_THRESHOLD
    packed = compressed(large, "deflate, gzip")
    assert packed is not None
    assert gzip.decompress(packed) == large
    assert compressed(large, "identity") is None
    assert compressed(large[1:], "gzip") is None


@pytest.mark.parametrize("media_type", [JSON, YAML])
@pytest.mark.parametrize(("opening", "closing"), [(b"[", b"]"), (b'{"a":', b"}")])
def test_a_body_is_taken_up_to_a_depth_and_refused_beyond(
    media_type: str, opening: bytes, closing: bytes
) -> None:
    decode(opening * MAX_DEPTH + b"1" + closing * MAX_DEPTH, media_type)
    for depth in (MAX_DEPTH + 1, 255, 1_000, 3_000):
        with pytest.raises(ApiError) as refused:
            decode(opening * depth + b"1" + closing * depth, media_type)
        assert refused.value.code == 400
