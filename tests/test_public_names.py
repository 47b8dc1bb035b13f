"""The one list of public names: complete, loadable, and cheap to import."""

from __future__ import annotations

import inspect
import subprocess
import sys

import pytest

import tocsin
from tocsin import errors
from tocsin.door import names_at


@pytest.mark.parametrize("name", tocsin.__all__)
def test_every_name_resolves(name: str) -> None:
    value = getattr(tocsin, name)
    assert value is not None
    assert name == "__version__" or inspect.getdoc(value)


def test_the_list_is_the_door() -> None:
    assert len(set(tocsin.__all__)) == len(tocsin.__all__)
    assert dir(tocsin) == sorted(tocsin.__all__)
    assert set(names_at("tocsin")) | {"__version__"} | set(public_errors()) == set(tocsin.__all__)


def test_the_names_that_are_promised() -> None:
    """spec: these are fixed, so that users and documents can rely on them."""
    assert {"build", "open", "read_rules", "Match", "TocsinError", "RuleError"} <= set(tocsin.__all__)
    for engine in ("atree", "scan"):
        index = tocsin.build([("r", "x = 1")], engine=engine)
        for method in ("match", "match_table", "explain", "rule", "save", "__len__", "__contains__"):
            assert callable(getattr(index, method))
    assert tocsin.Match("r1") == tocsin.Match(rule="r1", score=None)


def test_a_name_that_is_not_there() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = tocsin.nothing  # type: ignore[attr-defined]


def public_errors() -> list[str]:
    classes = inspect.getmembers(errors, inspect.isclass)
    return [
        name for name, each in classes if issubclass(each, Exception) and each.__module__ == errors.__name__
    ]


def test_errors_form_one_tree() -> None:
    for name in public_errors():
        each = getattr(errors, name)
        assert issubclass(each, errors.TocsinError) or each is errors.TocsinWarning
        assert name in (errors.__doc__ or "")
        assert getattr(tocsin, name) is each
    assert issubclass(errors.RuleErrors, errors.RuleError)
    assert not issubclass(errors.TocsinWarning, errors.TocsinError)


def test_a_rule_error_says_where() -> None:
    with pytest.raises(tocsin.RuleError) as caught:
        tocsin.build([("good", "x = 1"), ("bad", "x = 1 and\ny = ")])
    error = caught.value
    assert (error.rule, error.file, error.line) == ("bad", None, 2)
    assert "expected a value" in error.reason
    assert str(error).splitlines()[-1].strip() == "^"


LIGHT = """
import sys
import tocsin
heavy = {"numba", "llvmlite", "pyspark", "pyarrow", "numpy", "pandas", "rich", "re2"} & set(sys.modules)
assert not heavy, heavy
assert tocsin.RuleError and tocsin.__version__ and "build" in dir(tocsin)
tocsin.read_rules
heavy = {"numba", "llvmlite", "pyspark", "pandas"} & set(sys.modules)
assert not heavy, heavy
tocsin.build([("r", "x = 1")]).match({"x": 1})
assert "pyspark" not in sys.modules
"""


def test_import_is_light() -> None:
    ran = subprocess.run([sys.executable, "-c", LIGHT], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
