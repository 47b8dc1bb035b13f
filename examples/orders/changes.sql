-- What has become of orders: the row as it was beside the row as it is.

create trigger reopened
  from orders as o
  after insert or update of status to o
  when o.status = 'open' and old.status != o.status
  do alert 'order {o.id}: {old.status} -> {o.status}';

create trigger moved
  from orders as o, customers as c
  after update of customer to o
  when old.customer = c.id and o.total > 100
  do alert '{c.name} has lost an order of {o.total}';
