"""A program over several relations: read, checked, and ready to be started."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from tocsin.datalog.language import syntax
from tocsin.datalog.language.checker import check_program
from tocsin.datalog.language.clause_parser import without_rule
from tocsin.datalog.language.printer import print_argument
from tocsin.datalog.language.tree_walk import walk
from tocsin.datalog.machine.symbols import Symbols, Unfit
from tocsin.datalog.machine.tuples import Rows, TupleCode
from tocsin.display import SHOWN, Display, Displayed, Grid
from tocsin.errors import InputError, RuleError, UsageError, each_error, raise_all, telling
from tocsin.printable import number_of
from tocsin.storage import UNPACKED_LIMIT

if TYPE_CHECKING:
    from tocsin.datalog.engine.engine import Engine
    from tocsin.datalog.engine.requests import Source

DERIVED_LIMIT = 20_000_000
"""So many derived tuples are taken for a program that never ends."""


class Program(Displayed):
    """A program without errors. Made by Program.read or Program.parse; it never changes.

    All errors of a program are raised at once: a RuleError with the place of each.
    """

    def __init__(self, checked: syntax.CheckedProgram) -> None:
        self.checked = checked

    @classmethod
    @telling("reading a program")
    def read(cls, path: str | os.PathLike[str], *, allow_outside: bool = False) -> Program:
        """The program of a file, and of those that it includes.

        These are in its folder, or below, unless `allow_outside` is said.
        """
        name = os.fspath(path)
        text = _read_text(name)

        def read(file: str, included: str) -> tuple[str, str]:
            from tocsin.datalog.engine.confinement import confined

            if not included.isprintable():
                raise InputError("the file's name has a character that cannot be printed")
            found = Path(os.path.normpath(Path(file).parent / included))
            folder = Path(os.path.normpath(Path(name).parent))
            confined(found, folder, ".include", allow_outside=allow_outside)
            return str(found), _read_text(str(found))

        return cls(check_program(text, name, read))

    @classmethod
    @telling("reading a program")
    def parse(cls, text: str, *, file: str | None = None) -> Program:
        """The program of a text; `file` is what errors call it."""
        return cls(check_program(text, file))

    @property
    def file(self) -> str | None:
        """The file it was read from."""
        return self.checked.file

    @property
    def files(self) -> tuple[str, ...]:
        """The files it was read from."""
        return self.checked.files

    @property
    def relations(self) -> dict[str, syntax.Relation]:
        """The declared relations, in the order of the program."""
        return dict(self.checked.relations)

    @property
    def rules(self) -> list[str]:
        """The rules as they are written, facts not among them."""
        return [rule.text for rule in self.bare.rules]

    @cached_property
    def bare(self) -> syntax.CheckedProgram:
        """The program without its facts: an engine is given these like any other."""
        return replace(self.checked, rules=tuple(rule for rule in self.checked.rules if not rule.is_fact))

    @property
    def outputs(self) -> list[str]:
        """The relations whose changes are reported: those of `.output`, or all derived ones without any."""
        named = {directive.relation for directive in self.checked.directives if directive.kind == "output"}
        if not named:
            named = self.derived | {name for name, each in self.checked.relations.items() if each.eqrel}
        return [name for name in self.checked.relations if name in named]

    @property
    def derived(self) -> set[str]:
        """The relations that rules derive."""
        return {head.relation for rule in self.bare.rules for head in rule.heads}

    def __str__(self) -> str:
        return self.checked.text

    def __repr__(self) -> str:
        source = "" if self.file is None else f" {self.file}"
        counted = f"{number_of(len(self.relations), 'relation')}, {number_of(len(self.rules), 'rule')}"
        return f"<tocsin.Program{source}: {counted}>"

    def _display(self) -> Display:
        rules = Grid.of(("rule",), [(rule,) for rule in self.rules], len(self.rules), 2 * SHOWN)
        return Display(repr(self)[1:-1], [("", rules)])

    @telling("starting a program")
    def start(
        self,
        local: syntax.Value | None = None,
        *,
        facts: Mapping[str, Source] | None = None,
        limit: int = DERIVED_LIMIT,
        text_limit: int = syntax.TEXT_LIMIT,
        unpacked_limit: int = UNPACKED_LIMIT,
        journal: str | os.PathLike[str] | None = None,
        sync: str = "always",
    ) -> Engine:
        """An engine that holds the facts of the program, and `facts` by relation, and what follows from them.

        `local` is the address that located arguments (`@x`) are held to. When more than `limit`
        tuples are derived, or the rules make more than `text_limit` bytes of texts, the change that does
        it is refused with a DerivationError. A packed file in `facts` that holds more than `unpacked_limit`
        bytes is an InputError.

        With a `journal`, a folder, every change is on disk before its call returns: synced (`always`), or
        synced so much later at most (`10 ms`). A journal that is there already has the facts: then those of
        the program and `facts` are not looked at. UsageError when it is that of another program.
        """
        from tocsin.datalog.engine.base_facts import first_state
        from tocsin.datalog.engine.engine import Engine

        limit = checked_limit(limit)
        checked_limit(unpacked_limit, "unpacked_limit", "bytes")
        symbols = Symbols(limit=checked_limit(text_limit, "text_limit", "bytes"))

        def loaded() -> dict[str, Rows]:
            return self._rows(symbols, facts, unpacked_limit)

        if journal is not None:
            from tocsin.datalog.engine.journalled_engine import start_journalled

            return start_journalled(self, local, limit, symbols, loaded, journal, sync)
        return Engine(first_state(self, local, limit, symbols, loaded()))

    def _rows(
        self, symbols: Symbols, facts: Mapping[str, Source] | None, unpacked_limit: int
    ) -> dict[str, Rows]:
        """Facts of any source as rows."""
        from tocsin.datalog.engine.requests import rows_of_source, unknown_relation

        codes = self.codes(symbols)
        given = {}
        for name, source in (facts or {}).items():
            if name not in codes:
                raise unknown_relation(name, codes)
            given[name] = rows_of_source(source, codes[name], unpacked_limit)
        return given

    def codes(self, symbols: Symbols) -> dict[str, TupleCode]:
        """How the tuples of each relation are written as words."""
        return {
            name: TupleCode(name, relation.types, symbols, relation.columns)
            for name, relation in self.checked.relations.items()
        }

    def check_local(self, local: syntax.Value | None) -> None:
        """Refuse a local address that some located argument (`@x`) can never have."""
        if local is None:
            return
        symbols = Symbols()
        for argument in self._located():
            try:
                symbols.word(local, syntax.type_of(argument))
            except Unfit as unfit:
                held = print_argument(argument)
                raise UsageError(f"local is what {held} is held to, {unfit}, not {local!r}") from None

    def read_local(self, written: str) -> syntax.Value:
        """A written address: a number where it looks like one, unless a located argument is a symbol."""
        is_text = any(syntax.type_of(argument) is syntax.Type.SYMBOL for argument in self._located())
        return int(written) if not is_text and written.removeprefix("-").isdecimal() else written

    def _located(self) -> Iterator[syntax.Variable | syntax.Constant]:
        for node in walk(*(rule.body for rule in self.checked.rules)):
            if isinstance(node, syntax.Variable | syntax.Constant) and node.located:
                yield node

    def with_rules(self, text: str) -> Program:
        """The program with more text behind it: rules, and declarations if they need some.

        Errors have the places within that text.
        """
        if not isinstance(text, str):
            raise UsageError(f"rules are given as text, not as {text!r}")
        before = _before(self.checked.text)
        try:
            return Program(check_program(before + text, self.file))
        except RuleError as error:
            raise_all([_moved(each, before.count("\n")) for each in each_error(error)])
            raise

    def without_rule(self, rule: str | int) -> Program:
        """The program without one of its rules, given as text or as its place in `rules`, from 0."""
        found = self._rule(rule)
        if sum(other.place == found.place for other in self.checked.rules) > 1:
            raise UsageError(f"the rule stands in a component that is used more than once: {found.text}")
        return Program(check_program(without_rule(self.checked.text, found), self.file))

    def _rule(self, rule: str | int) -> syntax.Rule:
        rules = self.bare.rules
        if isinstance(rule, int) and not isinstance(rule, bool):
            if not 0 <= rule < len(rules):
                raise UsageError(f"there is no rule {rule}: the program has {len(rules)} rules, from 0")
            return rules[rule]
        if not isinstance(rule, str):
            raise UsageError(f"a rule is given as text or number, not {rule!r}")
        lines = _before(self.checked.text).count("\n")
        said = [each for each in self.with_rules(rule).checked.rules if each.place.line > lines]
        if len(said) != 1 or said[0].is_fact:
            raise UsageError(f"expected one rule (facts are deleted): {rule}")
        for each in rules:
            if each == said[0]:
                return each
        raise UsageError(f"the program has no such rule: {rule}")


def _read_text(name: str) -> str:
    try:
        return Path(name).read_text("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"{name}: the file is not UTF-8 text") from None
    except OSError as error:
        raise InputError(f"{name}: cannot be read: {error.strerror or error}") from error


def _before(text: str) -> str:
    """A program's text as it stands before what is added to it."""
    return f"{text.rstrip()}\n"


def checked_limit(limit: object, name: str = "limit", what: str = "tuples") -> int:
    """A limit, if it is one."""
    if isinstance(limit, bool) or not isinstance(limit, int) or limit < 0:
        raise UsageError(f"{name} is a number of {what}, not {limit!r}")
    return limit


def _moved(error: RuleError, lines: int) -> RuleError:
    """An error of the text that was added: its line counts from there, and it is of no file."""
    if error.line is None or error.line <= lines:
        return error
    line, column, excerpt, caret = error.line - lines, error.column, error.excerpt, error.caret
    return RuleError(error.reason, rule=error.rule, line=line, column=column, excerpt=excerpt, caret=caret)
