create table vouches (
	id         text not null primary key check (id <> ''),
	kind       text not null check (kind <> ''),
	agent      text not null check (agent <> ''),
	name       text not null check (name <> ''),
	text_version text not null,
	provenance text not null,
	vouched_by text not null,
	at         bigint not null
);
