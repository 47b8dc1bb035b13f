"""What becomes of matches: written out as files, and held back where a rule alerts too often.

slice_matches.py matches event files slice by slice, match_files.py and result_folder.py write what is found,
throttle.py decides which alerts are sent and sent_alerts.py remembers when others were.

Promised: memory is bounded whatever the files hold; a result is there whole or not at all.

Begin with slice_matches.py.
"""
