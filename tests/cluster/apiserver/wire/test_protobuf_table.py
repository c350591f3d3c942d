"""The committed table against what is known of the same kinds from another source: their JSON fields."""

from pathlib import Path

import orjson
import pytest

from gpuyard_cluster.apiserver.kinds import kinds
from gpuyard_cluster.apiserver.wire import protobuf_table
from gpuyard_cluster.apiserver.wire.protobuf import table

TYPED = {
    key: type_name
    for key in table()["kinds"]
    if key != "DeleteOptions" and (type_name := kinds.type_of(*key.rpartition("/")[::2]))
}


def names(message: str) -> set[str]:
    """The fields of a message, with those of what is inline."""
    found = set[str]()
    for name, text in table()["messages"][message].values():
        found |= {name} if name else names(text)
    return found


@pytest.mark.parametrize("key", sorted(TYPED))
def test_each_field_that_a_kind_has_in_json_has_a_number(key: str) -> None:
    checked = set[str]()
    waiting = [(table()["kinds"][key], TYPED[key])]
    while waiting:
        message, type_name = waiting.pop()
        fields = kinds.fields(type_name)
        assert set(fields) - {"apiVersion", "kind"} <= names(message), type_name
        checked.add(message)
        for name, text in table()["messages"][message].values():
            inner, known = text.lstrip("[]{}*"), fields.get(name, "").strip("[]{}")
            if "." in inner and known[:1].isupper() and inner not in checked:
                waiting.append((inner, known))


def test_a_table_is_read_from_the_sources_of_go(tmp_path: Path) -> None:
    package = tmp_path / "core" / "v1"
    package.mkdir(parents=True)
    (package / "generated.proto").write_text(
        """
package k8s.io.api.core.v1;

message ConfigMap {
  // What it is called.
  optional .k8s.io.apimachinery.pkg.apis.meta.v1.Time since = 1;
  map<string, bytes> data = 2;
  repeated Part parts = 3;
  optional Part inner = 4;
  optional int32 count = 5;
}

message Part {
  optional string name = 1;
}
"""
    )
    (package / "types.go").write_text(
        """
type ConfigMap struct {
\tSince metav1.Time `json:"since,omitempty" protobuf:"bytes,1,opt,name=since"`
\tPart `json:",inline" protobuf:"bytes,4,opt,name=inner"`
\tCount *int32 `json:"count,omitempty" protobuf:"varint,5,opt,name=count"`
}
"""
    )
    found = dict(protobuf_table.messages(tmp_path))
    assert found["k8s.io.api.core.v1.ConfigMap"] == {
        "1": ["since", "time"],
        "2": ["data", "{}bytes"],
        "3": ["parts", "[]k8s.io.api.core.v1.Part"],
        "4": ["", "k8s.io.api.core.v1.Part"],
        "5": ["count", "*int"],
    }


def test_the_file_has_a_kind_or_message_in_each_line() -> None:
    text = protobuf_table.TABLE.read_bytes()
    assert protobuf_table.encoded(orjson.loads(text)) == text
