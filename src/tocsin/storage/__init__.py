"""Where files are: folders of our own, files that are there whole or not at all, packed files, journals.

Promised: a file that a writer was killed over is not there, or is the one from before; a record of a journal
is whole or is not there; what comes out of a packed file is bounded; what is kept is private to its user.

Begin with drafts.py (how every file of ours is written), then record_log.py (journals), packed_files.py and
folders.py (the user's cache, temporary folders).
"""

from __future__ import annotations
