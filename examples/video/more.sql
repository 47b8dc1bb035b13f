-- More triggers over the same two tables.

-- Somebody viewed a video before it was released. Whichever of the two becomes known last fires it.
create trigger too_early with (severity = 'high')
  from video as v, viewed_by as b
  when b.vid = v.vid and b.timestamp < v.released
  do alert '{b.name} saw {v.title} at {b.timestamp}, before {v.released}';

-- The same person viewed two videos of one series.
create trigger hooked
  from viewed_by as first, viewed_by as second, video as v, video as w
  after insert to second
  when first.name = second.name and first.vid = v.vid and second.vid = w.vid and v.series = w.series
   and first.vid != second.vid and first.timestamp < second.timestamp
  do alert '{second.name} goes on with {w.series}: {w.title} after {v.title}';

-- One table is enough for a trigger, too.
create trigger long_comment
  from viewed_by
  when comments matches '(\S+\s+){15}';
