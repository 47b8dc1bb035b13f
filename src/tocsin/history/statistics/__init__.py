"""What history says of each field: values, words, and how likely a predicate is to hold.

field_facts.py          what is counted of a field's values, in a form that adds up
word_counts.py          the words of documents and their sketches, in a form that adds up
statistics_folder.py    the folder that ts.statistics writes
history.py              that folder, opened: without Spark
value_counts.py         what the facts say of one field
selectivity.py          how often a predicate holds
resemblance.py          how often a text query holds

Begin with field_facts.py and history.py. Other rooms come in by the names below.
"""

from typing import TYPE_CHECKING

from tocsin.door import door

if TYPE_CHECKING:
    from tocsin.history.statistics.field_facts import FACTS, merge_facts
    from tocsin.history.statistics.history import History
    from tocsin.history.statistics.local_statistics import statistics, statistics_of_slices
    from tocsin.history.statistics.selectivity import HistorySelectivity
    from tocsin.history.statistics.statistics_folder import NAME, check_folder
    from tocsin.history.statistics.statistics_job import Plan, StatisticsJob, fields_of_schemas
    from tocsin.history.statistics.task_facts import WORD, warm_up
    from tocsin.history.statistics.word_counts import WordCounter
else:
    __getattr__ = door(__name__)
