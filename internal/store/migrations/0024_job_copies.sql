create table job_copies (
	job        text not null primary key check (job <> ''),
	agent      text not null check (agent <> ''),
	source     text not null check (source <> ''),
	state      text not null check (state <> ''),
	files      bigint not null,
	bytes      bigint not null,
	left_out   text not null,
	changes    text not null,
	changed_by text not null,
	changed_at bigint not null
);
