create table rewinds (
	id         text not null primary key check (id <> ''),
	session    text not null references sessions (key),
	thread     text not null references threads (id),
	seq        bigint not null check (seq > 0),
	kind       text not null check (kind <> ''),
	state      text not null check (state <> ''),
	key        text not null,
	origin     text not null,
	target     text not null,
	keep_files bigint not null check (keep_files in (0, 1)),
	changes    text not null,
	not_undone text not null,
	node       text not null,
	created_at bigint not null,
	renewed_at bigint not null,
	done_at    bigint not null,
	unique (thread, seq)
);

create unique index rewinds_key on rewinds (session, key) where key <> '' and state <> 'refused';

create unique index rewinds_open on rewinds (session, thread) where state in ('asked', 'planned');

create index rewinds_target on rewinds (thread, target, seq) where state = 'done' and kind <> 'redo';

create table checkpoints (
	session    text not null references sessions (key),
	thread     text not null references threads (id),
	name       text not null check (name <> ''),
	entry      text not null,
	key        text not null,
	created_at bigint not null,
	primary key (thread, name)
);

create unique index checkpoints_key on checkpoints (session, key) where key <> '';

create table branches (
	session    text not null references sessions (key),
	thread     text not null primary key references threads (id),
	origin     text not null references threads (id),
	entry      text not null,
	key        text not null,
	created_at bigint not null
);

create unique index branches_key on branches (session, key) where key <> '';

create index branches_origin on branches (origin);
