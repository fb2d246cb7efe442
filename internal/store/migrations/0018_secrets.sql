create table secrets (
	name       text not null primary key check (name <> ''),
	version    bigint not null check (version > 0),
	hosts      text not null,
	note       text not null,
	master_key text not null,
	sealed     text not null,
	created_at bigint not null,
	changed_at bigint not null
);

create table secret_uses (
	id      text not null primary key check (id <> ''),
	name    text not null,
	version bigint not null check (version > 0),
	purpose text not null,
	host    text not null,
	session text not null,
	turn    text not null,
	at      bigint not null
);

create index secret_uses_name on secret_uses (name, at);
