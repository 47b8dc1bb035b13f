-- Three rules over a stream of log-ins.

create trigger new_device
  with (severity = 'low')
  from logins
  when device.known = false and user.role != 'service';

create trigger admin_from_outside
  with (severity = 'high', tags = 'access')
  from logins as l
  when l.user.role = 'admin' and not cidr(l.ip, '10.0.0.0/8')
  do alert 'administrator {l.user.name} from {l.ip}';

create trigger many_failures
  with (severity = 'medium')
  from logins
  when failures >= 5 xor tags in ('drill', 'load test');
