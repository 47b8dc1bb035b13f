-- What a small newsroom wants to be told of. Each trigger is a standing query over the stream of news.

-- A phrase and two words that add up: the more of them a piece has, the higher its score.
create trigger golf_prizes with (desk = 'sports')
  from news as n
  after insert to n
  when n.section = 'sports' and contains(n.body, '"David Lee", golf, trophy', 1.3)
  do alert 'golf: {n.headline} ({score})';

-- A prefix, an adjacent phrase, a word that must be there and one that must not.
create trigger high_water with (desk = 'local', severity = 'high')
  from news as n
  after insert to n
  when contains(n.body, '(flood* | "high water") & river* & !drill', boolean)
  do alert 'water: {n.headline}';

-- As in the TriggerMan paper: any number of words may stand between those of a phrase.
create trigger chip_shortage with (desk = 'business')
  from news as n
  after insert to n
  when n.section in ('business', 'technology') and tm_contains(n.body, '"shortage chip*" | "chip* shortage"')
  do alert 'chips: {n.headline}';

-- Two texts at once. Only one contains of a condition has a threshold; the other one is boolean.
create trigger rates with (desk = 'business', severity = 'high')
  from news as n
  after insert to n
  when contains(n.headline, '"central bank"', boolean)
   and contains(n.body, 'inflation, "interest rate", cut*, !opinion', 1.2)
  do alert 'rates: {n.headline} ({score})';

create trigger recalls with (desk = 'consumer')
  from news as n
  after insert to n
  when n.section not in ('culture', 'opinion')
   and contains(n.body, '"product recall" | recall* & (car | toy* | "bicycle batter*")')
  do alert 'recall: {n.headline}';

-- A query word of several words is the phrase of them: e-mail finds "E-Mail" and not "email".
create trigger leaks with (desk = 'technology')
  from news as n
  after insert to n
  when contains(n.body, 'e-mail & (leak* | breach*)')
  do alert 'leak: {n.headline}';

-- Words of any script. A Han, Hiragana or Katakana character is a word of its own.
create trigger tokyo with (desk = 'world')
  from news as n
  after insert to n
  when contains(n.body, 'Tokyo | 東京 | Токио | 도쿄')
  do alert 'Tokyo: {n.headline}';

-- A list is one document, but no phrase crosses the border between two of its elements.
create trigger storm_tags with (desk = 'weather', severity = 'high')
  from news as n
  after insert to n
  when contains(n.tags, '"tropical storm" & evacuat* & !"evacuation ended"')
  do alert 'storm: {n.headline}';
