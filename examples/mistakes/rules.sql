-- Every statement here has a mistake: try `tocsin check`.
create trigger too_many when failures >> 5;
create trigger nobody when user.nmae = 'ada' and failures > 'seven';
create trigger nobody when ip is null;
