from typing import Any

import pytest

from gpuyard_cluster.apiserver.admission.cel import Expression, Failure, compile_text, holds

SELF = frozenset({"self"})


def value(text: str, given: Any = None) -> Any:
    compiled = compile_text(text, SELF)
    assert isinstance(compiled, Expression), compiled
    return compiled.evaluate({"self": given})


@pytest.mark.parametrize(
    ("text", "given", "expected"),
    [
        ("self.low <= self.high", {"low": 1, "high": 2}, True),
        ("has(self.a) && !has(self.b)", {"a": 1}, True),
        ("'example.com/x' in self.labels", {"labels": {"example.com/x": "1"}}, True),
        ("self.labels['a/b'] == 'c'", {"labels": {"a/b": "c"}}, True),
        ("self.all(x, x.startsWith('a')) && self.exists_one(x, x == 'ab')", ["aa", "ab"], True),
        ("self.filter(x, x > 1).map(x, x * 2)", [1, 2], [4]),
        ("self.matches('^a+$') ? size(self) : 0", "aaa", 3),
        ("self.lowerAscii().split(',').join('-').replace('a', 'c')", "A,B", "c-b"),
        ("self.trim().substring(1, 3) + self.upperAscii().charAt(0)", " abc", "bc "),
        ("self.indexOf('c')", "abc", 2),
        ("{'a': [1, 2.5, self], 'n': null}", "x", {"a": [1, 2.5, "x"], "n": None}),
        ("type(self) == int", 1, True),
        ("self == null", None, True),
    ],
)
def test_expressions_have_values(text: str, given: Any, expected: Any) -> None:
    assert value(text, given) == expected


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("1 +", "Syntax error"),
        ("other == 1", "undeclared reference to 'other'"),
        ("self.all(x, y > 1)", "undeclared reference to 'y'"),
        ("quantity(self).isLessThan(1)", "undeclared reference to 'isLessThan'"),
        ("self.?a.orValue(1) == 1", "Syntax error"),
        ("Object{a: 1}", "undeclared reference to 'Object'"),
    ],
)
def test_what_cannot_be_evaluated_is_refused_when_compiled(text: str, words: str) -> None:
    compiled = compile_text(text, SELF)
    assert isinstance(compiled, Failure)
    assert words in compiled.message


@pytest.mark.parametrize(
    "text", ["self.missing", "self.a / 0", "self.a + 'x'", "self.a.lowerAscii()", "self[3]"]
)
def test_an_error_is_a_value(text: str) -> None:
    failure = value(text, {"a": 1})
    assert isinstance(failure, Failure)
    assert failure.message.startswith(f"expression '{text}' resulted in error: ")


def test_an_error_that_does_not_matter_is_no_error() -> None:
    assert value("self.missing > 1 || true", {}) is True


def test_a_condition_is_true_or_false() -> None:
    compiled = compile_text("self", SELF)
    assert isinstance(compiled, Expression)
    assert holds(compiled, {"self": True}) is True
    assert holds(compiled, {"self": "true"}) == Failure("expression 'self' must evaluate to bool")


def test_an_expression_knows_what_it_reads() -> None:
    compiled = compile_text("self.all(x, x == oldSelf)", frozenset({"self", "oldSelf"}))
    assert isinstance(compiled, Expression)
    assert compiled.names == {"self", "oldSelf"}
