create table jobs (
	id           text not null primary key check (id <> ''),
	kind         text not null check (kind <> ''),
	key          text not null unique check (key <> ''),
	session      text not null unique check (session <> ''),
	thread       text not null,
	agent        text not null check (agent <> ''),
	title        text not null,
	text         text not null,
	label        text not null,
	state        text not null check (state <> ''),
	reason       text not null,
	priority     bigint not null,
	options      text not null,
	requester    text not null,
	origin       text not null,
	parent       text not null,
	place        bigint not null check (place >= 0),
	depth        bigint not null check (depth >= 0),
	run          text not null,
	attempt      bigint not null check (attempt >= 0),
	messages     bigint not null check (messages >= 0),
	repairs      bigint not null check (repairs >= 0),
	waits        bigint not null check (waits >= 0),
	turn         text not null,
	result       text not null,
	created_at   bigint not null,
	started_at   bigint not null,
	finished_at  bigint not null,
	announced_at bigint not null,
	archive_at   bigint not null,
	archived_at  bigint not null
);

create index jobs_pending on jobs (kind, priority desc, created_at, id) where state = 'pending' and waits = 0;

create index jobs_placed on jobs (kind) where state in ('in_progress', 'stuck', 'recovering') and waits = 0;

create index jobs_requester on jobs (requester, created_at) where requester <> '';

create index jobs_parent on jobs (parent, place) where parent <> '';

create index jobs_time on jobs (created_at, id);

create index jobs_archive on jobs (archive_at) where archive_at > 0 and archived_at = 0;

create table job_events (
	job        text not null references jobs (id),
	seq        bigint not null check (seq > 0),
	kind       text not null check (kind <> ''),
	from_state text not null,
	to_state   text not null,
	step       bigint not null check (step >= 0),
	turn       text not null,
	by         text not null,
	key        text not null,
	text       text not null,
	created_at bigint not null,
	primary key (job, seq)
);

create unique index job_events_key on job_events (job, key) where key <> '';

create table job_steps (
	job   text not null references jobs (id),
	place bigint not null check (place > 0),
	text  text not null,
	state text not null check (state <> ''),
	note  text not null,
	primary key (job, place)
);

create table routines (
	id               text not null primary key check (id <> ''),
	name             text not null check (name <> ''),
	description      text not null,
	agent            text not null check (agent <> ''),
	builtin          bigint not null check (builtin in (0, 1)),
	enabled          bigint not null check (enabled in (0, 1)),
	reason           text not null,
	trigger_kind     text not null check (trigger_kind <> ''),
	trigger_spec     text not null,
	action           text not null,
	guards           text not null,
	notify           text not null,
	origin           text not null,
	session          text not null,
	path             text not null,
	delete_after_run bigint not null check (delete_after_run in (0, 1)),
	next_at          bigint not null,
	last_at          bigint not null,
	failures         bigint not null check (failures >= 0),
	version          bigint not null check (version > 0),
	created_at       bigint not null,
	updated_at       bigint not null,
	deleted_at       bigint not null
);

create unique index routines_name on routines (name) where deleted_at = 0;

create unique index routines_path on routines (path) where path <> '' and deleted_at = 0;

create index routines_due on routines (next_at) where next_at > 0 and enabled = 1 and deleted_at = 0;

create index routines_events on routines (trigger_kind) where enabled = 1 and deleted_at = 0 and trigger_kind in ('event', 'system_event');

create table routine_runs (
	id          text not null primary key check (id <> ''),
	routine     text not null references routines (id),
	due_at      bigint not null,
	key         text not null check (key <> ''),
	state       text not null check (state <> ''),
	reason      text not null,
	waits_for   text not null,
	cause       text not null check (cause <> ''),
	cause_text  text not null,
	missed      bigint not null check (missed >= 0),
	session     text not null,
	thread      text not null,
	turn        text not null,
	job         text not null,
	report      text not null,
	result      text not null,
	notified    text not null,
	created_at  bigint not null,
	started_at  bigint not null,
	finished_at bigint not null,
	unique (routine, key)
);

create index routine_runs_routine on routine_runs (routine, created_at, id);

create index routine_runs_pending on routine_runs (created_at, id) where state = 'pending';

create index routine_runs_waiting on routine_runs (routine, due_at, created_at, id) where state = 'pending';

create index routine_runs_running on routine_runs (routine) where state = 'running';

create table routine_causes (
	routine text not null references routines (id),
	cause   text not null check (cause <> ''),
	seen_at bigint not null,
	primary key (routine, cause)
);

create index routine_causes_time on routine_causes (seen_at);

create table notes (
	key        text not null primary key check (key <> ''),
	session    text not null check (session <> ''),
	source     text not null,
	text       text not null,
	turn       text not null,
	created_at bigint not null
);

create index notes_waiting on notes (session, created_at, key) where turn = '';
create index notes_told on notes (created_at) where turn <> '';

create table tool_health (
	tool        text not null primary key check (tool <> ''),
	failures    bigint not null check (failures >= 0),
	disabled_at bigint not null,
	probe_at    bigint not null,
	probes      bigint not null check (probes >= 0),
	error       text not null,
	updated_at  bigint not null
);
