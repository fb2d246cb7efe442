create table ledger (
	id          text not null primary key check (id <> ''),
	session     text references sessions (key),
	turn        text references turns (id),
	step        bigint not null check (step >= 0),
	job         text not null,
	routine     text not null,
	model       text not null check (model <> ''),
	purpose     text not null check (purpose <> ''),
	state       text not null check (state <> ''),
	input       bigint not null check (input >= 0),
	output      bigint not null check (output >= 0),
	cache_read  bigint not null check (cache_read >= 0),
	cache_write bigint not null check (cache_write >= 0),
	reasoning   bigint not null check (reasoning >= 0),
	cost        bigint not null check (cost >= 0),
	guessed     bigint not null check (guessed in (0, 1)),
	node        text not null,
	created_at  bigint not null,
	check (state <> 'reserved' or node <> '')
);

insert into ledger (id, session, turn, step, job, routine, model, purpose, state, input, output, cache_read, cache_write, reasoning,
		cost, guessed, node, created_at)
	select id, session, turn, step, '', '', model, purpose, 'settled', input, output, cache_read, cache_write, reasoning, 0, 1, '', created_at
	from usage;

drop table usage;

alter table ledger rename to usage;

create index usage_session on usage (session, created_at);

create index usage_time on usage (created_at);

create index usage_job on usage (job) where job <> '';

create index usage_routine on usage (routine, created_at) where routine <> '';

create unique index usage_open on usage (turn) where state = 'reserved';

create table budgets (
	scope     text not null check (scope <> ''),
	key       text not null,
	starts_at bigint not null,
	ends_at   bigint not null,
	spent     bigint not null check (spent >= 0),
	reserved  bigint not null check (reserved >= 0),
	warned    bigint not null check (warned in (0, 1)),
	used_at   bigint not null,
	primary key (scope, key, starts_at)
);

create trigger usage_kept before delete on usage for each row execute function refuse_change();

create trigger usage_fixed before update on usage for each row when (old.state <> 'reserved') execute function refuse_change();
