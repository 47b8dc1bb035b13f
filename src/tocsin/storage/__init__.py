"""Where files are: folders of our own, files that are there whole or not at all, packed files, journals.

Promised: a file that a writer was killed over is not there, or is the one from before; a record of a journal
is whole or is not there; what comes out of a packed file is bounded; what is kept is private to its user.

Begin with drafts.py (how every file of ours is written), then record_log.py (journals), packed_files.py and
folders.py (the user's cache, temporary folders). Other rooms come in by the names below.
"""

from typing import TYPE_CHECKING

from tocsin.door import door

if TYPE_CHECKING:
    from tocsin.storage.drafts import AS_USUAL, PRIVATE, PRIVATE_FOLDER, draft_of, mode_within, sync_file
    from tocsin.storage.drafts import sync_folder
    from tocsin.storage.folders import cache_folder, temporary_folder
    from tocsin.storage.input_paths import files_at, shown
    from tocsin.storage.packed_files import UNPACKED_LIMIT, UNPACKED_TIMES, check_unpacked, is_packed
    from tocsin.storage.packed_files import most_unpacked, open_input, open_unpacked
    from tocsin.storage.record_log import ALWAYS, ENGINE, WATCH, Record, RecordLog, holds_journal
else:
    __getattr__ = door(__name__)
