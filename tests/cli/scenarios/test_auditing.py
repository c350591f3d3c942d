"""An audit asks everyone, says who is silent, and waits while things settle."""

import asyncio
from collections.abc import Mapping, Sequence

from gpuyard.auditing.accounts import LedgerAccount, NodeAccounts
from gpuyard.auditing.evidence import Objects
from gpuyard.auditing.findings import Flaw
from gpuyard_cli.scenarios.auditing import SETTLE_SECONDS, Audited, Silent, look, settled
from tests.gpuyard.audited import NODE, NOTHING, Books, Tenant, holding, node

ONE = Tenant("one", holding(0))


class Clerks:
    """Those who are asked: they answer from books, but for those who are silent."""

    def __init__(self, books: Books, *silent: str) -> None:
        self.books, self.silent, self.asked = books, silent, list[str]()

    async def objects(self) -> Objects:
        return self.books.objects

    async def ledger(self) -> LedgerAccount | Silent:
        if "extender" in self.silent:
            return Silent("no extender runs")
        assert self.books.ledger is not None
        return self.books.ledger

    async def nodes(self, names: Sequence[str]) -> Mapping[str, NodeAccounts | Silent]:
        self.asked.extend(names)
        if "plugin" in self.silent:
            return dict.fromkeys(names, Silent("none runs there"))
        assert self.books.told is not None
        return dict.fromkeys(names, self.books.told)


def found(clerks: Clerks) -> Audited:
    return asyncio.run(look(clerks))


def test_accounts_that_agree_are_clean() -> None:
    audited = found(Clerks(Books.kept(ONE)))
    assert audited.clean
    assert audited.lines == ()


def test_who_is_silent_is_named_and_the_others_are_compared() -> None:
    wrong = Books.kept(ONE).telling(ONE, plugin=NOTHING, kubelet=None)
    audited = found(Clerks(wrong, "extender"))
    assert audited.silent == ("extender: no extender runs",)
    assert [finding.flaw for finding in audited.findings] == [Flaw.ACCOUNTS_DISAGREE]
    assert found(Clerks(wrong, "plugin")).silent == (f"device plugin of {NODE}: none runs there",)


def test_a_silent_kubelet_is_named_by_its_plugin() -> None:
    books = Books.kept(ONE).but(told=NodeAccounts({ONE.uid: ONE.held}, None, "kubelet.sock: UNAVAILABLE"))
    (line,) = found(Clerks(books)).silent
    assert line.startswith(f"kubelet of {NODE}: kubelet.sock: UNAVAILABLE; ")


def test_only_nodes_that_a_plugin_of_ours_serves_are_asked() -> None:
    plain = node(None)
    plain["metadata"]["labels"] = {}
    clerks = Clerks(Books.kept(node=plain))
    assert found(clerks).clean
    assert clerks.asked == []


def test_what_differs_may_settle_for_a_while_and_then_it_is_found() -> None:
    async def scene(wrong_looks: int) -> tuple[Audited, int]:
        looks = 0

        async def next_look() -> Audited:
            nonlocal looks
            looks += 1
            return Audited(silent=("not yet",)) if looks <= wrong_looks else Audited()

        async def wait() -> bool:
            return True

        return await settled(next_look, lambda: float(looks), wait), looks

    assert asyncio.run(scene(3)) == (Audited(), 4)
    audited, looks = asyncio.run(scene(1000))
    assert audited.silent == ("not yet",)
    assert SETTLE_SECONDS < looks <= SETTLE_SECONDS + 2
