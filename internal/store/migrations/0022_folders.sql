create table folders (
	agent        text not null check (agent <> ''),
	name         text not null check (name <> ''),
	path         text not null check (path <> ''),
	session      text not null unique check (session <> ''),
	trusted_by   text not null,
	trusted_at   bigint not null,
	forgotten_at bigint not null,
	primary key (agent, name),
	unique (agent, path)
);

alter table file_labels rename column agent to workspace;
