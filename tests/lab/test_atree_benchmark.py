"""The A-Tree benchmark measures what it says, on sizes too small to say anything; no time is asserted."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from xml.etree import ElementTree

import pyarrow as pa
import pytest
from benchmarks import atree, atree_tables
from benchmarks.atree_growth import touched
from benchmarks.atree_matching import known_counts
from benchmarks.atree_workloads import Built, Sizes, asked_of
from benchmarks.plots import log_plot

from tocsin.conditions.language import parse_condition
from tocsin.conditions.meaning import matches
from tocsin_lab import abe_gen

TINY = Sizes(
    expressions=300,
    events=70,
    single_events=10,
    scanned_events=5,
    advertisements=300,
    organised=400,
    growth=(30, 300),
    updates=20,
    updates_with_match=5,
    repeat=1,
)

pytestmark = pytest.mark.filterwarnings("ignore::tocsin.errors.TocsinWarning")


@pytest.mark.parametrize("part", atree.PARTS)
def test_every_part_runs_and_has_its_table(part: str):
    figures = atree.PARTS[part](TINY)
    machine = {"cores": "2", "processor": "any", "python": "3", "numba": "1"}
    kept = json.loads(json.dumps({part: {"machine": machine, "figures": figures}}))
    (name, text), *others = atree_tables.tables(kept).items()
    assert name == f"atree-{part}"
    assert not others
    assert "| --- |" in text


def test_every_table_has_a_place_in_the_documents():
    text = "".join(document.read_text() for document in atree.DOCUMENTS)
    for part in (*atree.PARTS, atree.FOLDER_PART):
        assert f"<!-- generated: atree-{part} -->\n" in text
        assert f"<!-- end: atree-{part} -->\n" in text


def test_wrong_counts_are_found(tmp_path: Path):
    folder = tmp_path / "abe100k"
    folder.mkdir()
    setting = abe_gen.Setting(expressions=100)
    rows = abe_gen.rows_of(abe_gen.events(setting, 20))
    texts = abe_gen.rules(setting)["when"].to_pylist()
    counts = [sum(matches(parse_condition(text), row) for text in texts) for row in rows]
    csv = "".join(f'{number},"{text}"\n' for number, text in enumerate(texts))
    (folder / "rules.csv.gz").write_bytes(gzip.compress(f"id,when\n{csv}".encode()))
    events = "".join(f"{json.dumps(row)}\n" for row in rows)
    (folder / "events.jsonl.gz").write_bytes(gzip.compress(events.encode()))
    for added in (0, 1):
        known = "".join(f"{count + added}\n" for count in counts)
        (folder / "counts.txt.gz").write_bytes(gzip.compress(known.encode()))
        if added:
            with pytest.raises(SystemExit, match="the counts are not those"):
                known_counts(TINY, tmp_path)
        else:
            figures = known_counts(TINY, tmp_path)["abe100k"]
            assert figures["matches"] == pytest.approx(sum(counts) / len(counts))
            assert "abe100k" in atree_tables.counts_table({"abe100k": figures})


def test_touched_nodes_are_leaves_that_hold_and_what_they_wake():
    whens = ["a = 1 or b = 1", "a = 2 and b = 2", "b = 1 or a = 1"]
    built = Built(pa.table({"id": ["1", "2", "3"], "when": whens}))
    assert touched(built, {"a": 5, "b": 5}) == 0
    assert touched(built, {"a": 1}) == 2
    assert touched(built, {"a": 1, "b": 1}) == 3
    assert touched(built, {"a": 2, "b": 2}) == 3
    alone = Built(pa.table({"id": ["1"], "when": whens[:1]}))
    assert touched(alone, {"a": 1, "b": 1}) == 2, "an OR that is one rule's and nothing else is not touched"


def test_cells_rows_and_table_are_the_same_events():
    setting = abe_gen.Setting(expressions=50)
    built, asked = Built(abe_gen.rules(setting)), asked_of(abe_gen.events(setting, 12), 12)
    found = built.matcher.match_batch(asked.cells(built)).per_event.tolist()
    assert found == [len(built.index.match(row)) for row in asked.rows]
    assert asked.length == len(found)


def test_unknown_parts_are_refused(capsys: pytest.CaptureFixture[str]):
    for arguments, message in (["--only", "nothing"], "no part nothing"), (["--only", "counts"], "--abe"):
        with pytest.raises(SystemExit):
            atree.main(arguments)
        assert message in capsys.readouterr().err


def test_a_plot_shows_every_point_and_name():
    svg = log_plot("a < b", "rules", "ms", {"blocks": [(10, 0.1), (1_000, 2.0)], "single": [(10, 3.0)]})
    root = ElementTree.fromstring(svg)
    space = "{http://www.w3.org/2000/svg}"
    assert len(root.findall(f"{space}circle")) == 3
    texts = {each.text for each in root.findall(f"{space}text")}
    assert {"a < b", "rules", "ms", "blocks", "single", "10", "1,000", "0.1"} <= texts
    for circle in root.findall(f"{space}circle"):
        assert 0 <= float(circle.attrib["cx"]) <= 640
        assert 0 <= float(circle.attrib["cy"]) <= 400


def test_the_kept_figures_are_those_of_the_documents() -> None:
    kept = atree_tables.tables(json.loads(atree.RESULTS.read_text()))
    assert kept
    page = (atree.ROOT / "docs" / "performance.md").read_text()
    assert all(text in page for text in kept.values())
