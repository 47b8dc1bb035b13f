-- Payments that somebody should look at, after a backtest.

create trigger takeover
  with (severity = 'high')
  when device.known = false and failures >= 3
  do alert '{account.id} pays {amount} from a new device after {failures} failures';

create trigger new_account
  with (severity = 'medium')
  when account.days <= 7 and amount >= 300;

create trigger abroad
  with (severity = 'low')
  when shop.country not in ('DE', 'AT', 'CH') and shop.category not in ('travel', 'subscriptions')
    and amount >= 150 and account.days < 365;

create trigger expensive
  with (severity = 'medium')
  when shop.category in ('electronics', 'travel') and amount > 1000;

create trigger gift_cards
  with (severity = 'high')
  when shop.category = 'transfer' and contains(memo, '"gift card*", urgent, secret, cod*', 1.5)
  do alert '{account.id} sends {amount}: {memo}';

create trigger no_address
  when ip is null and amount > 100;
