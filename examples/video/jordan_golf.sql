-- The trigger of the TriggerMan paper, over two tables: videos, and who has viewed them with what to say.
-- It fires on a comment by Bob on a video in Sports that is about Michael Jordan's golf.
create trigger JordanGolf
  from video as v, viewed_by as b
  after insert to b
  when b.vid = v.vid
   and v.category = 'Sports'
   and b.name = 'Bob'
   and tm_contains(b.comments, 'Michael, Jordan, golf', 1.2)
  do alert '{b.name} on {v.title}: {b.comments} ({score})';
