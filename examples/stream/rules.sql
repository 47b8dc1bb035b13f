-- Log-ins as they come.

create trigger admin_from_outside
  with (severity = 'high')
  from logins as l
  when l.user.role = 'admin' and not cidr(l.ip, '10.0.0.0/8')
  do alert 'administrator {l.user.name} from {l.ip}';

create trigger many_failures
  with (severity = 'medium')
  from logins as l
  when l.failures >= 5
  do alert '{l.failures} failures of {l.user.name}';
