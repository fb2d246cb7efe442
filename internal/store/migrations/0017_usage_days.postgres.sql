alter table usage add column summed bigint not null default 0 check (summed in (0, 1));

create index usage_unsummed on usage (created_at) where summed = 0;

create table usage_days (
	zone        text not null check (zone <> ''),
	kind        text not null check (kind <> ''),
	day         bigint not null,
	name        text not null,
	calls       bigint not null check (calls >= 0),
	input       bigint not null check (input >= 0),
	output      bigint not null check (output >= 0),
	cache_read  bigint not null check (cache_read >= 0),
	cache_write bigint not null check (cache_write >= 0),
	reasoning   bigint not null check (reasoning >= 0),
	cost        bigint not null check (cost >= 0),
	guessed     bigint not null check (guessed >= 0),
	primary key (zone, kind, day, name)
);

drop trigger usage_fixed on usage;

create trigger usage_fixed before update of id, session, turn, step, job, routine, model, purpose, state, input, output, cache_read, cache_write, reasoning,
		cost, guessed, node, created_at
	on usage for each row when (old.state <> 'reserved') execute function refuse_change();
