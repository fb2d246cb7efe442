create table file_labels (
	agent      text not null check (agent <> ''),
	path       text not null check (path <> ''),
	provenance text not null default '{}',
	created_at bigint not null,
	primary key (agent, path)
);
