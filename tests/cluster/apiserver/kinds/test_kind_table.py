import orjson

from gpuyard_cluster.apiserver.kinds import kind_table


def test_the_committed_table_is_what_the_kubernetes_client_says() -> None:
    assert orjson.loads(kind_table.TABLE.read_bytes()) == kind_table.build(), (
        "run: python -m gpuyard_cluster.apiserver.kinds.kind_table"
    )
