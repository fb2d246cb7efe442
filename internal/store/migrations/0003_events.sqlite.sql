create table events (
	seq        integer primary key,
	tx         bigint not null default 0,
	session    text not null,
	thread     text not null,
	turn       text not null,
	body       text not null,
	created_at bigint not null
);

create index events_order on events (tx, seq);

insert into events (session, thread, turn, body, created_at) values ('', '', '', '[]', 0);
