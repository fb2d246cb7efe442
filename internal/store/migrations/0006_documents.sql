create table documents (
	agent      text not null check (agent <> ''),
	path       text not null check (path <> ''),
	version    bigint not null check (version >= 0),
	created_at bigint not null,
	primary key (agent, path)
);

create table document_versions (
	agent      text not null,
	path       text not null,
	version    bigint not null check (version > 0),
	deleted    bigint not null check (deleted in (0, 1)),
	sha256     text not null,
	size       bigint not null check (size >= 0),
	key        text not null check (key <> ''),
	author     text not null,
	turn       text not null,
	call       text not null,
	written_at bigint not null,
	text       text not null,
	primary key (agent, path, version),
	unique (agent, path, key),
	foreign key (agent, path) references documents (agent, path)
);
