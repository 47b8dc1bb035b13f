"""Which changes of which server: `postgresql://user@host/db?tables=public.orders,customers`.

Of the parameters of the URI these are tocsin's; all others (sslmode, application_name, ...) go to the
client of PostgreSQL as they are:

    tables        the tables to read, separated by commas: `orders`, `sales.orders`, `"Odd Schema"."a,b"`.
                  Names are taken as they are written; without a schema it is `public`
    slot          the name of the replication slot; without it, one is made up
    publication   the name of the publication; without it, that of the slot
    rows          changes in a batch, about: transactions stay whole
    contents      yes: the contents of the tables are kept, which triggers over several tables need
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple
from urllib.parse import SplitResult, parse_qsl, quote, urlencode, urlsplit

from tocsin.errors import UsageError

SCHEMES = ("postgresql", "postgres")
OWN = ("tables", "slot", "publication", "rows", "contents")
MOST_ROWS = 100_000
"""Changes in a batch unless it is said otherwise."""

_NAME = r'(?:"(?:[^"]|"")+"|[^\s",.]+)'
_TABLE = re.compile(rf"\s*({_NAME})(?:\.({_NAME}))?\s*(?:,|$)")
_SLOT = re.compile(r"[a-z0-9_]{1,63}")


class TableName(NamedTuple):
    """A table by its schema and its name."""

    schema: str
    name: str

    def __str__(self) -> str:
        return f"{self.schema}.{self.name}"

    @property
    def quoted(self) -> str:
        """As SQL takes it."""
        return f"{quoted(self.schema)}.{quoted(self.name)}"


@dataclass(frozen=True, slots=True)
class Address:
    """A server, and what is read from it.

    server   the URI that the client takes; it may hold a password, and is not shown
    """

    server: str = field(repr=False)
    tables: tuple[TableName, ...]
    slot: str | None = None
    publication: str | None = None
    most_rows: int = MOST_ROWS
    contents: bool = False

    @classmethod
    def of(cls, uri: str) -> Address:
        """What a URI names; UsageError when it makes no sense."""
        parts = split_uri(uri)
        if parts.scheme not in SCHEMES:
            raise UsageError(f"a PostgreSQL server is named by postgresql://..., not by {parts.scheme}:")
        given = parse_qsl(parts.query, keep_blank_values=True)
        own = {name: value for name, value in given if name in OWN}
        others = [(name, value) for name, value in given if name not in OWN]
        return cls._checked(joined_uri(parts, others), own)

    @classmethod
    def of_options(cls, options: Mapping[str, str]) -> Address:
        """What the options of a data source name: `url`, and those above, which win over the url's."""
        if "url" not in options:
            raise UsageError("the option 'url' is missing: postgresql://user@host/database")
        parts = split_uri(options["url"])
        own = {name: options[name] for name in OWN if name in options}
        query = [pair for pair in parse_qsl(parts.query, keep_blank_values=True) if pair[0] not in own]
        return cls.of(joined_uri(parts, [*query, *own.items()]))

    @classmethod
    def _checked(cls, server: str, own: Mapping[str, str]) -> Address:
        tables = table_names(own.get("tables", ""))
        slot = own.get("slot")
        if slot is not None and not _SLOT.fullmatch(slot):
            raise UsageError(f"slot={slot}: a slot's name has lower-case letters, digits and _, at most 63")
        rows = own.get("rows", str(MOST_ROWS))
        if not rows.isdecimal() or int(rows) < 1:
            raise UsageError(f"rows={rows}: expected a number from 1")
        contents = own.get("contents", "no")
        if contents not in ("yes", "no"):
            raise UsageError(f"contents={contents}: expected yes or no")
        return cls(server, tables, slot, own.get("publication"), int(rows), contents == "yes")

    @property
    def uri(self) -> str:
        """What `of` reads; it may hold a password."""
        own = {
            "tables": ",".join(table.quoted for table in self.tables),
            "slot": self.slot,
            "publication": self.publication,
            "rows": str(self.most_rows),
            "contents": "yes" if self.contents else None,
        }
        parts = urlsplit(self.server)
        given = parse_qsl(parts.query, keep_blank_values=True)
        return joined_uri(
            parts, [*given, *((name, value) for name, value in own.items() if value is not None)]
        )

    @property
    def shown(self) -> str:
        """The server, or all that it may be, and its database, for messages: without the password."""
        parts = urlsplit(self.server)
        user = f"{parts.username}@" if parts.username else ""
        return f"postgresql://{user}{parts.netloc.rpartition('@')[2]}{parts.path}"


def split_uri(uri: str) -> SplitResult:
    """The parts of a URI; UsageError when it has none."""
    try:
        return urlsplit(uri)
    except ValueError as error:
        raise UsageError(
            f"a PostgreSQL server is named by postgresql://user@host/database: {error}"
        ) from None


def joined_uri(parts: SplitResult, query: Iterable[tuple[str, str]]) -> str:
    """The URI of these parts, with these parameters.

    Not by urlunsplit's rules: libpq wants the // also where no host is named, and takes %20 for a blank and
    + for itself.
    """
    added = urlencode(list(query), quote_via=quote)
    return f"{parts.scheme}://{parts.netloc}{parts.path}{'?' if added else ''}{added}"


def table_names(text: str) -> tuple[TableName, ...]:
    """Names of tables as `tables=` lists them."""
    names: list[TableName] = []
    place = 0
    while place < len(text):
        found = _TABLE.match(text, place)
        if found is None:
            raise UsageError(f"tables={text}: expected the name of a table at {text[place:]!r}")
        first, second = (None if part is None else _bare(part) for part in found.groups())
        names.append(TableName("public", str(first)) if second is None else TableName(str(first), second))
        place = found.end()
    if not names:
        raise UsageError("which tables? Add ?tables=orders,sales.customers to the URI")
    if len(set(map(str, names))) < len(names):
        raise UsageError(f"tables={text} names a table twice, or two that nobody can tell apart")
    return tuple(names)


def quoted(name: str) -> str:
    """A name as SQL takes it."""
    return '"' + name.replace('"', '""') + '"'


def _bare(part: str) -> str:
    return part[1:-1].replace('""', '"') if part.startswith('"') else part
