create table owed (
	id         text not null primary key check (id <> ''),
	session    text not null references sessions (key),
	turn       text references turns (id),
	entry      text not null,
	target     text not null,
	channel    text not null check (channel <> ''),
	text       text not null,
	state      text not null check (state <> ''),
	attempts   bigint not null check (attempts >= 0),
	error      text not null,
	created_at bigint not null,
	sent_at    bigint not null
);

insert into owed (id, session, turn, entry, target, channel, text, state, attempts, error, created_at, sent_at)
	select id, session, turn, entry, target, channel, text, state, attempts, error, created_at, sent_at from outbox;

drop table outbox;

alter table owed rename to outbox;

create index outbox_pending on outbox (channel, created_at) where state = 'pending';
