"""Trigger files: `create trigger` statements, each ending in `;`.

    create trigger NAME
      [with (severity = 'high', enabled = false, throttle = '10 minutes', dedup = 'ip', ...)]
      [from TABLE [as ALIAS] {, TABLE [as ALIAS]}]
      [after (insert | delete | update [of FIELD {, FIELD}]) {or ...} [to ALIAS]]
      when CONDITION
      [do alert 'text with {alias.field} and {score}'];

With several tables every field starts with an alias, and a field may be compared with a field; see joins/.
What fires a trigger, and what `old.field` is, stands in after_clause.py. An option may have any name; what
throttle and dedup say is in throttles.py, and enabled in metadata_values.py.

After an error within a statement reading goes on at its next clause, and after a statement that
cannot be followed at all behind the next `;` or at the next `create trigger`, so that every error
of a file is reported.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from tocsin.conditions.language import (
    TRIGGER_WORDS,
    Cursor,
    Literal,
    Path,
    Token,
    TokenKind,
    offset_within,
    print_field,
    read_value,
    tokenize,
)
from tocsin.errors import RuleError
from tocsin.events import Kind
from tocsin.rules.after_clause import AFTER, OLD, WHERE_OLD, After, read_kinds
from tocsin.rules.alert_texts import read_alert
from tocsin.rules.joins.parser import misplaced_texts, parse_joined, read_joined
from tocsin.rules.joins.splitter import split
from tocsin.rules.joins.tree import Comparison, JoinedCondition
from tocsin.rules.throttles import DEDUP, option_problems, read_dedup
from tocsin.syntax import Lines, Problem, print_timestamp

OWN_COLUMNS = ("table", "alias", AFTER, "alert")
"""The metadata of a trigger that its statement gives without an option's help."""

OptionValue = int | float | str | bool

_TAKEN = frozenset({"id", "when", *OWN_COLUMNS})

SEVERAL_TABLES = (
    "a trigger over several tables cannot be in an index: it is for tocsin.watch, for tocsin match with"
    " --events TABLE=FILE, or for a stream from PostgreSQL with contents=yes in the source's URI"
)
COMPARES_ROWS = (
    "a trigger that compares a field with one of the row before a change cannot be in an index: it is for"
    " tocsin.watch, or for a stream from PostgreSQL. What compares old.FIELD with values can be in one, as an"
    " event's object 'old'"
)

MOST_TABLES = 32
"""A trigger over more tables is taken for a mistake: the work of planning its join grows fast with them."""

ALIAS_OLD = f"old is the row before the change {WHERE_OLD}: the table needs another alias"

QUOTES = ("'", '"')
_STATEMENT = re.compile(r"(?<=\n)[ \t]*create\s+trigger\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Table:
    """A table that a trigger watches; `alias` is the table's own name where none is given."""

    name: str
    alias: str


@dataclass(frozen=True, slots=True)
class Trigger:
    """One statement. `when` is the condition's text, which stands at `line` and `column` of the file.

    `compares` says that a trigger over one table compares a field with one of the row before the change.
    """

    name: str
    when: str
    line: int
    column: int
    options: dict[str, OptionValue] = field(default_factory=dict)
    tables: tuple[Table, ...] = ()
    after: After | None = None
    alert: str | None = None
    compares: bool = False

    @property
    def aliases(self) -> tuple[str, ...]:
        """The names of the tables in the condition and the alert's text; none when it names no table."""
        if self.tables:
            return tuple(table.alias for table in self.tables)
        return () if self.after is None or self.after.alias is None else (self.after.alias,)

    @property
    def alias(self) -> str | None:
        """What a field's first name may be without being part of the field, when there is one table."""
        return self.aliases[0] if len(self.aliases) == 1 else None

    @property
    def sources(self) -> tuple[Table, ...]:
        """Its tables, also one that only `after` names; none when it watches any table."""
        return self.tables or tuple(Table(alias, alias) for alias in self.aliases)

    @property
    def old_of(self) -> str | None:
        """The alias whose row before the change is `old`, "" without any; None where nothing is."""
        after = self.after
        return None if after is None or not after.has_old or after.alias == OLD else after.alias or ""

    @property
    def refusal(self) -> str | None:
        """Why no index can take it, if so: its condition is then one of rules.joins."""
        return SEVERAL_TABLES if len(self.tables) > 1 else COMPARES_ROWS if self.compares else None

    def joined(self, when: str | None = None) -> JoinedCondition:
        """Its condition, or another in its place, as one of joined rows."""
        return parse_joined(self.when if when is None else when, self.aliases or ("",), self.old_of)

    def metadata(self) -> dict[str, OptionValue]:
        """Everything that the statement says besides its name and its condition."""
        found = dict(self.options)
        if self.sources:
            found["table"] = ", ".join(table.name for table in self.sources)
            found["alias"] = ", ".join(table.alias for table in self.sources)
        if self.after is not None:
            found[AFTER] = str(self.after)
        if self.alert is not None:
            found["alert"] = self.alert
        return found


def parse_triggers(text: str, file: str | None = None) -> tuple[list[Trigger], list[RuleError]]:
    """The statements of a file that are right, and every error of the others, in the file's order."""
    tokens = _tokens(text)
    lines = Lines(text)
    triggers: list[Trigger] = []
    errors: list[RuleError] = []
    start = 0
    while True:
        while _is_symbol(tokens[start], ";"):
            start += 1
        if tokens[start].kind is TokenKind.END:
            return triggers, errors
        end = _statement_end(tokens, start)
        reader = _StatementReader(text, tokens[start:end], tokens[end], lines)
        trigger = reader.read()
        if trigger is None:
            errors.extend(lines.error(problem, rule=reader.name, file=file) for problem in reader.problems)
        else:
            triggers.append(trigger)
        start = end


def _tokens(text: str) -> list[Token]:
    """The tokens of a file. A quote that is never closed ends where the next statement begins.

    Such a quote pairs with the next one, which may be in another statement, and that one with the
    next: so when the last of them is open, the culprit is the first that spans a new statement.
    """
    whole = tokenize(text, TRIGGER_WORDS)
    if not any(token.kind is TokenKind.BAD and token.text[:1] in QUOTES for token in whole):
        return whole
    tokens: list[Token] = []
    start = 0
    while True:
        part = [
            token._replace(offset=token.offset + start) for token in tokenize(text[start:], TRIGGER_WORDS)
        ]
        for place, token in enumerate(part):
            spanned = _STATEMENT.search(token.text, 1) if token.text[:1] in QUOTES else None
            if spanned is not None:
                cut = tokenize(token.text[: spanned.start()], TRIGGER_WORDS)[0]
                tokens += [*part[:place], cut._replace(offset=token.offset)]
                start = token.offset + spanned.start()
                break
        else:
            return tokens + part


def _statement_end(tokens: Sequence[Token], start: int) -> int:
    """The place of the `;`, of the next `create trigger` or of the END that stops the statement."""
    at = start + 1
    while tokens[at].kind is not TokenKind.END and not _is_symbol(tokens[at], ";"):
        if _starts_statement(tokens, at) and not _is_symbol(tokens[at - 1], "."):
            break
        at += 1
    return at


def _starts_statement(tokens: Sequence[Token], at: int) -> bool:
    if tokens[at].kind is not TokenKind.NAME or tokens[at].value.lower() != "create":
        return False
    following = tokens[at + 1]
    return following.kind is TokenKind.NAME and following.value.lower() == "trigger"


def _is_symbol(token: Token, symbol: str) -> bool:
    return token.value == symbol and token.kind is TokenKind.SYMBOL


def _is_clause(token: Token) -> bool:
    """Whether a clause starts here, which is where reading goes on after an error."""
    if token.kind is TokenKind.KEYWORD:
        return token.value in ("from", "after", "when", "do")
    return False


class _StatementReader:
    """Reads the tokens of one statement; `stop` is the token that ended it."""

    def __init__(self, text: str, tokens: Sequence[Token], stop: Token, lines: Lines) -> None:
        self._text = text
        self._tokens = tokens
        self._stop = stop
        self._lines = lines
        self._cursor = Cursor([*tokens, _end_before(stop)])
        self._condition_problems: list[Problem] = []
        self._table_places: list[int] = []
        self._option_values: dict[str, Token] = {}
        self._lost = False
        self.name: str | None = None

    @property
    def problems(self) -> list[Problem]:
        return sorted({**dict(self._condition_problems), **dict(self._cursor.problems)}.items())

    def read(self) -> Trigger | None:
        cursor = self._cursor
        if not self._read_words("create", "trigger"):
            return None
        self.name = self._read_name("a name for the trigger")
        if self.name == "":
            cursor.problem(self._tokens[2].offset, "a trigger's name cannot be empty")
        options = self._read_options() if cursor.at_word("with") else {}
        self._expect_clause("'with', 'from', 'after' or 'when'")
        tables = self._read_tables() if cursor.at_keyword("from") else ()
        self._expect_clause("'after' or 'when'")
        after = self._read_after(tables) if cursor.at_keyword("after") else None
        self._expect_clause("'when'")
        head = Trigger(self.name or "", "", 0, 0, options, tables, after)
        self._check_options(head)
        where, when, condition = self._read_when(head)
        alert = self._read_alert(head) if cursor.at_keyword("do") else None
        self._expect_end()
        if self.name is None or condition is None or self.problems:
            return None
        line, column = self._lines.place(where)
        compares = len(tables) < 2 and any(isinstance(step, Comparison) for step in condition.steps)
        return replace(head, when=when, line=line, column=column, alert=alert, compares=compares)

    def _expect_end(self) -> None:
        if not self._cursor.at_end():
            self._cursor.expected("';'")
        elif not _is_symbol(self._stop, ";") and self._tokens[-1].kind is not TokenKind.BAD:
            before = "the end of the file" if self._stop.kind is TokenKind.END else "'create trigger'"
            self._cursor.problem(self._stop.offset, f"expected ';' before {before}")

    def _read_words(self, *words: str) -> bool:
        for word in words:
            if not self._cursor.at_word(word):
                self._cursor.expected(f"'{word}'", "a statement starts with 'create trigger'")
                return False
            self._cursor.advance()
        return True

    def _read_name(self, what: str) -> str | None:
        token = self._cursor.token
        if token.kind in (TokenKind.NAME, TokenKind.QUOTED):
            return self._cursor.advance().value
        hint = ""
        if token.kind is TokenKind.KEYWORD:
            hint = f"'{token.text}' is a reserved word; as a name it is written \"{token.text}\""
        self._cursor.expected(what, hint)
        if token.kind is TokenKind.KEYWORD and _is_clause(self._cursor.next):
            self._cursor.advance()
        return None

    def _expect_clause(self, what: str) -> None:
        """Go to the next clause, with an error when it does not start here."""
        cursor = self._cursor
        if _is_clause(cursor.token):
            return
        if not self._lost:
            cursor.expected(what)
        self._lost = True
        while not _is_clause(cursor.token) and not cursor.at_end():
            cursor.skip_until(_is_clause)
            if cursor.at_symbol(")"):
                cursor.advance()

    def _read_options(self) -> dict[str, OptionValue]:
        cursor = self._cursor
        options: dict[str, OptionValue] = {}
        cursor.advance()
        if not cursor.at_symbol("("):
            cursor.expected("'('")
            return options
        cursor.advance()
        while True:
            token = cursor.token
            name = self._read_name("an option's name")
            if name is None:
                return options
            if name in _TAKEN or name in options:
                why = (
                    "is given twice"
                    if name in options
                    else "is not an option: the statement has its own place for it"
                )
                cursor.problem(token.offset, f"'{name}' {why}")
            if not cursor.at_symbol("="):
                cursor.expected("'='")
                return options
            cursor.advance()
            self._option_values[name] = cursor.token
            value = read_value(cursor)
            if value is not None:
                options[name] = _option(value)
            if not cursor.at_symbol(","):
                break
            cursor.advance()
        if not cursor.at_symbol(")"):
            cursor.expected("',' or ')'")
            return options
        cursor.advance()
        return options

    def _check_options(self, head: Trigger) -> None:
        """Report what is wrong with the options that have a meaning.

        Of a trigger over one table, the dedup field is then written without the table, so that it can be
        read without the statement.
        """
        options, aliases = head.options, head.aliases
        for name, (place, reason) in option_problems(options, aliases, head.old_of).items():
            token = self._option_values[name]
            inside = token.kind is TokenKind.STRING and place > 0
            self._cursor.problem(offset_within(token, place) if inside else token.offset, reason)
        path = read_dedup(options.get(DEDUP), aliases)[0] if len(aliases) < 2 else None
        if path is not None:
            options[DEDUP] = print_field(path)

    def _read_tables(self) -> tuple[Table, ...]:
        cursor = self._cursor
        tables: list[Table] = []
        cursor.advance()
        while True:
            name_at = alias_at = cursor.token.offset
            name = self._read_name("a table's name")
            if name is None:
                return tuple(tables)
            alias: str | None = name
            if cursor.at_word("as"):
                cursor.advance()
                alias_at = cursor.token.offset
                alias = self._read_name("an alias")
            if alias is not None:
                if alias in [table.alias for table in tables]:
                    hint = "" if alias_at != name_at else f": write {name} as ..."
                    cursor.problem(alias_at, f"'{alias}' is already another table's alias{hint}")
                if len(tables) == MOST_TABLES:
                    cursor.problem(name_at, f"a trigger has at most {MOST_TABLES} tables")
                tables.append(Table(name, alias))
                self._table_places.append(alias_at)
            if not cursor.at_symbol(","):
                return tuple(tables)
            cursor.advance()

    def _read_after(self, tables: Sequence[Table]) -> After | None:
        cursor = self._cursor
        cursor.advance()
        kinds, fields = read_kinds(cursor)
        if not kinds:
            return None
        aliases = [table.alias for table in tables]
        alias = aliases[0] if len(aliases) == 1 else None
        at = cursor.token.offset
        if cursor.at_word("to"):
            cursor.advance()
            at = cursor.token.offset
            alias = self._read_name("the table's alias")
            if alias is None:
                return None
            if tables and alias not in aliases:
                known = " or ".join(f"'{each}'" for each in aliases)
                cursor.problem(at, f"expected {known} after 'to', found '{alias}'")
        elif len(aliases) > 1 or not _is_clause(cursor.token):
            cursor.expected("'to' and the table's alias")
            return None
        after = After(kinds, alias, tuple(self._own_field(*each, alias, aliases) for each in fields))
        if after.has_old and OLD in (*aliases, alias):
            cursor.problem(self._table_places[aliases.index(OLD)] if OLD in aliases else at, ALIAS_OLD)
        return after

    def _own_field(self, first: Token, path: Path, alias: str | None, aliases: Sequence[str]) -> Path:
        """A field of `update of`, without the alias of the table."""
        if first.kind is not TokenKind.NAME or first.value not in (alias, *aliases, OLD):
            return path
        if first.value != alias or len(path) == 1:
            self._cursor.problem(first.offset, "expected a field of the table whose updates fire the trigger")
        return path[1:]

    def _read_when(self, head: Trigger) -> tuple[int, str, JoinedCondition | None]:
        """The condition's offset and text; and what it says, None when it cannot be read."""
        cursor = self._cursor
        if not cursor.at_keyword("when"):
            if not self._lost:
                cursor.expected("'when'")
            return 0, "", None
        cursor.advance()
        inside: list[Token] = []
        while not cursor.at_end():
            after_dot = bool(inside) and _is_symbol(inside[-1], ".")
            if cursor.at_keyword("do") and not after_dot:
                break
            inside.append(cursor.advance())
        reader = Cursor([*inside, _end_before(cursor.token)])
        condition = read_joined(reader, head.aliases or ("",), head.old_of)
        self._condition_problems = reader.problems
        if condition is not None and len(head.tables) > 1:
            self._condition_problems = self._join_problems(head, condition)
        if not inside:
            return cursor.token.offset, "", condition
        return inside[0].offset, self._text[inside[0].offset : inside[-1].end], condition

    def _join_problems(self, head: Trigger, condition: JoinedCondition) -> list[Problem]:
        """What is wrong with a condition over several tables that can be read."""
        bound = split(condition).bound
        loose = [
            (place, f"nothing is asked of '{alias}': it needs a condition of its own or a join")
            for alias, place in zip(head.aliases, self._table_places, strict=True)
            if alias not in bound
        ]
        if head.after is not None and head.after.alias not in head.aliases:
            return loose
        return [*misplaced_texts(condition, None if head.after is None else head.after.alias), *loose]

    def _read_alert(self, head: Trigger) -> str | None:
        cursor = self._cursor
        cursor.advance()
        if not cursor.at_word("alert"):
            cursor.expected("'alert'")
            return None
        cursor.advance()
        if cursor.token.kind is not TokenKind.STRING:
            cursor.expected("the alert's text as a string")
            return None
        token = cursor.advance()
        for place, reason in read_alert(token.value, head.aliases, head.old_of)[1]:
            cursor.problem(offset_within(token, place), reason)
        return token.value


def _option(literal: Literal) -> OptionValue:
    if literal.kind is Kind.TIMESTAMP:
        return print_timestamp(int(literal.value))
    if literal.kind is Kind.NUMBER and isinstance(literal.value, str):
        return float(literal.value)
    return literal.value


def _end_before(stop: Token) -> Token:
    """An END in the place of the token that stopped a statement or condition, named as that in errors."""
    return Token(TokenKind.END, stop.text, "", stop.offset)
