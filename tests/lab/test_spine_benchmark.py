"""The benchmark's own arithmetic and writing; its figures are nobody's to assert."""

from __future__ import annotations

import pytest
from benchmarks import spine

from tocsin import build
from tocsin_lab.python_loop import PythonLoop


@pytest.mark.filterwarnings("ignore::tocsin.errors.TocsinWarning")  # few events have few of the fields
def test_the_small_workloads_agree_and_a_wrong_loop_is_found():
    for workload in (spine.exchange_workload(100, events=40), spine.random_workload(100, events=40)):
        index = build(workload.rules)
        texts = workload.rules["when"].to_pylist()
        counts = spine.agreed(workload, index, PythonLoop(texts, workload.listed))
        assert len(counts) == workload.table.num_rows
        wrong = PythonLoop(["true", *texts[1:]], workload.listed)
        with pytest.raises(SystemExit, match="the ways of matching differ on event"):
            spine.agreed(workload, index, wrong)
        workload.counts = [each + 1 for each in counts]
        with pytest.raises(SystemExit, match="the counts are not those"):
            spine.agreed(workload, index, PythonLoop(texts, workload.listed))
