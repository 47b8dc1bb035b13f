"""Reading of programs.

    program     = { statement }
    statement   = clause | ".decl" decl | ".type" type | ".number_type" name | ".symbol_type" name
                | (".input" | ".output" | ".printsize") io | ".comp" comp | ".init" name "=" component
                | ".pragma" string [ string ] | ".plan" plan
    decl        = name { "," name } "(" [ column { "," column } ] ")" { qualifier }
    column      = name ":" qname
    qualifier   = "eqrel" | "overridable" | "input" | "output" | "printsize"
                | "inline" | "no_inline" | "magic" | "no_magic" | "brie" | "btree"        (no meaning here)
    type        = name [ "<:" qname | "=" qname { "|" qname } ]
    io          = qname { "," qname } [ "(" [ parameter { "," parameter } ] ")" ]
    parameter   = name "=" ( string | name | number )
    comp        = component { (":" | ",") component } "{" { statement | ".override" name } "}"
    component   = name [ "<" name { "," name } ">" ]
    plan        = number ":" "(" [ number { "," number } ] ")" { "," ... }                  (no meaning here)

    clause      = atom "." | atom { "," atom } ":-" body "." [ ".plan" plan ]
    body        = conjunction { ";" conjunction }
    conjunction = term { "," term }
    term        = atom | comparison | "true" | "false" | "(" body ")" | "!" term
    atom        = qname "(" [ argument { "," argument } ] ")"
    comparison  = argument ("=" | "!=" | "<" | "<=" | ">" | ">=") argument
                | ("match" | "contains") "(" argument "," argument ")"
    argument    = name | "_" | constant | "@" ( name | constant ) | "(" argument ")"
                | argument operator argument | ("-" | "bnot" | "lnot") argument
                | functor "(" [ argument { "," argument } ] ")" | "as" "(" argument "," qname ")"
                | ("count" | ("sum" | "min" | "max" | "mean") argument) ":" ( "{" body "}" | atom )
    constant    = number | float | string
    qname       = name { "." name }

The operators, from the weakest: lor; lxor; land; bor; bxor; band; bshl bshr bshru; + -; * / %; the
unary ones; ^, which alone associates to the right.

After a mistake reading goes on at the next clause, so that every one of a file is found.
"""

from __future__ import annotations

import re

from tocsin.datalog.language import outline
from tocsin.datalog.language.clause_parser import NESTING, RECORDS, USER_FUNCTORS, ClauseReader
from tocsin.datalog.language.cursor import Cursor, Mistake
from tocsin.datalog.language.fact_parser import read_facts
from tocsin.datalog.language.functors import NO_RELATIONS
from tocsin.datalog.language.sources import Problems
from tocsin.datalog.language.syntax import Directive
from tocsin.datalog.language.tokens import TokenKind

_IO_QUALIFIERS = ("input", "output", "printsize")
_QUALIFIERS = frozenset(
    {"eqrel", "overridable", "inline", "no_inline", "magic", "no_magic", "brie", "btree", *_IO_QUALIFIERS}
)
_REFUSED = {
    ".functor": USER_FUNCTORS,
    ".lattice": "lattices are not supported",
    ".limitsize": "'.limitsize' is not supported: start a program with a limit on derived tuples",
}
_OF_RECURSION = ": an aggregate of what a recursion gives is a rule of its own"
_REFUSED_QUALIFIERS = {
    "choice-domain": ": results do not depend on an order",
    "btree_delete": ", as there is no subsumption",
    "btree_min": _OF_RECURSION,
    "btree_max": _OF_RECURSION,
    "btree_sum": _OF_RECURSION,
}
_ALGEBRAIC = "algebraic types are not supported: give a relation for each branch"
_UNKNOWN_DIRECTIVE = re.compile(r"\.\s*([A-Za-z_]\w*)")


def parse_program(text: str, problems: Problems) -> outline.Block:
    """What a program says; statements that cannot be read are left out and noted."""
    return _ProgramReader(text, problems).program()


class _ProgramReader:
    def __init__(self, text: str, problems: Problems) -> None:
        self._cursor = Cursor(text)
        self._clauses = ClauseReader(self._cursor)
        self._problems = problems

    def program(self) -> outline.Block:
        block = outline.Block()
        cursor = self._cursor
        while cursor.token.kind is not TokenKind.END:
            self._statements(block, 0)
            if cursor.at("}"):
                self._problems.add(cursor.place(), "this '}' closes nothing")
                cursor.advance()
        return block

    def _statements(self, block: outline.Block, depth: int) -> None:
        """Statements up to a closing brace or the END."""
        cursor = self._cursor
        while cursor.token.kind is not TokenKind.END and not cursor.at("}"):
            cursor.forget()
            if cursor.token.kind is TokenKind.NAME:
                facts = read_facts(cursor)
                block.rules += facts
                if not facts:
                    self._clause(block)
            elif cursor.token.kind is TokenKind.DIRECTIVE:
                self._directive(block, depth)
            else:
                self._stray()

    def _clause(self, block: outline.Block) -> None:
        try:
            block.rules.append(self._clauses.clause())
        except Mistake as mistake:
            self._problems.add(mistake.place, mistake.reason)
            self._cursor.skip_clause()

    def _stray(self) -> None:
        """What starts no statement: noted, and passed over as far as it makes no sense."""
        cursor = self._cursor
        place = cursor.place()
        if cursor.token.kind is TokenKind.BAD:
            self._problems.add(place, cursor.token.value)
            cursor.advance()
            return
        unknown = _UNKNOWN_DIRECTIVE.match(cursor.text, cursor.token.offset)
        if unknown is not None:
            self._problems.add(place, f"'.{unknown[1]}' is not a directive")
            cursor.advance()
            cursor.advance()
            cursor.skip_directive()
            return
        try:
            cursor.expected("a rule, a fact or a directive")
        except Mistake as mistake:
            self._problems.add(place, mistake.reason)
        cursor.skip_clause()

    def _directive(self, block: outline.Block, depth: int) -> None:
        cursor = self._cursor
        word = cursor.advance()
        names: list[outline.Named] = []
        try:
            if word.text in _REFUSED:
                cursor.fail(_REFUSED[word.text], word)
            elif word.text == ".decl":
                self._relation(block, names)
            elif word.text in (".type", ".number_type", ".symbol_type"):
                self._type(block, word.text, names)
            elif word.text == ".comp":
                self._component(block, names, depth)
            elif word.text == ".init":
                self._instance(block, names)
            elif word.text == ".override":
                if depth == 0:
                    cursor.fail("'.override' stands in a component", word)
                block.overrides.append(cursor.name("the name of a relation"))
            elif word.text == ".pragma":
                self._pragma()
            elif word.text == ".plan":
                cursor.listed(self._order)
            else:
                self._io(block, word.text[1:])
        except Mistake as mistake:
            self._problems.add(mistake.place, mistake.reason)
            block.damaged.update(named.name for named in names)
            cursor.skip_directive()

    def _relation(self, block: outline.Block, names: list[outline.Named]) -> None:
        cursor = self._cursor
        cursor.listed(lambda: names.append(self._relation_name()))
        if cursor.at("="):
            cursor.fail("'debug_delta' is not supported")
        cursor.expect("(", "',' or '('")
        columns = () if cursor.at(")") else tuple(cursor.listed(self._column))
        cursor.expect(")", "',' or ')'")
        qualifiers = self._qualifiers()
        for named in names:
            block.relations.append(outline.RelationDeclaration(named.name, named.place, columns, qualifiers))
            for kind in _IO_QUALIFIERS:
                if kind in qualifiers:
                    block.directives.append(Directive(kind, named.name, {}, named.place))

    def _relation_name(self) -> outline.Named:
        word = self._cursor.token
        if word.kind is TokenKind.NAME and word.text in NO_RELATIONS:
            self._cursor.fail(f"'{word.text}' is a reserved word, and no relation")
        return self._cursor.name("the name of a relation")

    def _column(self) -> outline.Column:
        cursor = self._cursor
        named = cursor.name("the name of a column")
        cursor.expect(":")
        column = outline.Column(named.name, cursor.qualified_name("a type"), named.place)
        if cursor.at("<"):
            cursor.fail("lattices are not supported")
        return column

    def _qualifiers(self) -> frozenset[str]:
        cursor = self._cursor
        found: set[str] = set()
        while cursor.token.kind is TokenKind.NAME:
            word = cursor.token.text
            if word in _REFUSED_QUALIFIERS:
                cursor.fail(f"{word} is not supported{_REFUSED_QUALIFIERS[word]}")
            if word not in _QUALIFIERS:
                break
            found.add(word)
            cursor.advance()
        return frozenset(found)

    def _type(self, block: outline.Block, word: str, names: list[outline.Named]) -> None:
        cursor = self._cursor
        named = cursor.name("the name of a type")
        names.append(named)
        subset, parts = True, [named._replace(name="number" if word == ".number_type" else "symbol")]
        if word == ".type" and cursor.accept("<:"):
            parts = [cursor.qualified_name("a type")]
        elif word == ".type" and cursor.accept("="):
            subset, parts = False, cursor.listed(self._part, "|")
        block.types.append(outline.TypeDeclaration(named.name, named.place, subset, tuple(parts)))

    def _part(self) -> outline.Named:
        cursor = self._cursor
        if cursor.at("["):
            cursor.fail(RECORDS)
        part = cursor.qualified_name("a type")
        if cursor.at("{"):  # its braces and all branches behind them are passed over
            cursor.skip_brackets()
            while cursor.accept("|"):
                cursor.advance()
                if cursor.at("{"):
                    cursor.skip_brackets()
            raise Mistake(part.place, _ALGEBRAIC)
        return part

    def _io(self, block: outline.Block, kind: str) -> None:
        cursor = self._cursor
        relations = cursor.listed(lambda: cursor.qualified_name("the name of a relation"))
        parameters: dict[str, str] = {}
        if cursor.accept("("):
            while not cursor.at(")"):
                name, value = self._parameter()
                parameters[name] = value
                if not cursor.accept(","):
                    break
            cursor.expect(")", "',' or ')'")
        block.directives += [Directive(kind, named.name, parameters, named.place) for named in relations]

    def _parameter(self) -> tuple[str, str]:
        cursor = self._cursor
        name = cursor.name("a parameter or ')'").name
        cursor.expect("=")
        token = cursor.token
        if token.kind is TokenKind.STRING:
            cursor.advance()
            return name, token.value
        if token.kind in (TokenKind.NAME, TokenKind.NUMBER):
            cursor.advance()
            return name, token.text
        return cursor.expected("a value")

    def _component(self, block: outline.Block, names: list[outline.Named], depth: int) -> None:
        cursor = self._cursor
        if depth == NESTING:
            cursor.fail(f"components are nested more than {NESTING} deep")
        formal = self._component_type()
        names.append(outline.Named(formal.name, formal.place))
        bases: list[outline.ComponentType] = []
        while cursor.at(":", ","):
            cursor.advance()
            bases.append(self._component_type())
        opening = cursor.expect("{", "':' or '{'")
        component = outline.Component(
            formal.name, formal.arguments, tuple(bases), outline.Block(), formal.place
        )
        block.components.append(component)
        self._statements(component.block, depth + 1)
        if not cursor.at("}"):
            cursor.fail("this component never ends: expected '}'", opening)
        cursor.advance()

    def _component_type(self) -> outline.ComponentType:
        cursor = self._cursor
        named = cursor.name("the name of a component")
        arguments: list[str] = []
        if cursor.accept("<"):
            arguments = cursor.listed(lambda: cursor.qualified_name("a type").name)
            cursor.expect(">", "',' or '>'")
        return outline.ComponentType(named.name, tuple(arguments), named.place)

    def _instance(self, block: outline.Block, names: list[outline.Named]) -> None:
        cursor = self._cursor
        named = cursor.name("the name of an instance")
        names.append(named)
        cursor.expect("=")
        block.instances.append(outline.Instance(named.name, self._component_type(), named.place))

    def _pragma(self) -> None:
        cursor = self._cursor
        if cursor.token.kind is not TokenKind.STRING:
            cursor.expected("a string")
        cursor.advance()
        if cursor.token.kind is TokenKind.STRING:
            cursor.advance()

    def _order(self) -> None:
        cursor = self._cursor
        self._number()
        cursor.expect(":")
        cursor.expect("(")
        if not cursor.at(")"):
            cursor.listed(self._number)
        cursor.expect(")", "',' or ')'")

    def _number(self) -> None:
        if self._cursor.token.kind is not TokenKind.NUMBER:
            self._cursor.expected("a number")
        self._cursor.advance()
