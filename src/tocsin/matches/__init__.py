"""What becomes of matches: written out as files, and held back where a rule alerts too often.

slice_matches.py matches event files slice by slice, match_files.py and result_folder.py write what is found,
throttle.py decides which alerts are sent and sent_alerts.py remembers when others were.

Promised: memory is bounded whatever the files hold; a result is there whole or not at all.

Begin with slice_matches.py. Other rooms come in by the names below.
"""

from typing import TYPE_CHECKING

from tocsin.door import door

if TYPE_CHECKING:
    from tocsin.matches.few_rules import MOST_ASKED, MOST_BYTES, FewRules, few_events
    from tocsin.matches.kernels.throttle_order import pick_sent
    from tocsin.matches.match_files import FEW_LINES, JsonLines, check_kept_names, without_formulas
    from tocsin.matches.result_folder import DirectResult, ResultFiles, ResultPlace
    from tocsin.matches.sent_alerts import merge_runs, read_run, run_name, runs_before, write_run
    from tocsin.matches.slice_matches import MatchedEvents, PartReport, SliceJob, columns_of_parts
    from tocsin.matches.slice_matches import columns_present, known_columns, match_slice, names_of, read_part
    from tocsin.matches.slice_matches import reject_line, rejects_path, write_part
    from tocsin.matches.throttle import Alerts, Throttling
else:
    __getattr__ = door(__name__)
