alter table routine_runs add column generation bigint not null default 0 check (generation >= 0);
