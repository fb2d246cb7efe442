-- Work that waits is claimed with a token and a lease of its own, may be set
-- anew while it runs, and is found by kind. Nothing has used the table before.
drop table work;

create table work (
	id         text not null primary key check (id <> ''),
	kind       text not null check (kind <> ''),
	key        text not null check (key <> ''),
	args       text not null,
	state      text not null check (state <> ''),
	attempts   bigint not null check (attempts >= 0),
	error      text not null,
	due_at     bigint not null,
	again_at   bigint not null, -- when it is due once more, if that was said while it ran; else 0
	dropped    bigint not null check (dropped in (0, 1)), -- while it ran: it is not tried again
	owner      text not null,
	token      bigint not null check (token >= 0),
	until      bigint not null,
	created_at bigint not null
);

create unique index work_live on work (kind, key) where state in ('due', 'running');

create index work_due on work (kind, due_at, id) where state = 'due';

create index work_running on work (owner, until) where state = 'running';

create index work_failed on work (due_at) where state = 'failed';
