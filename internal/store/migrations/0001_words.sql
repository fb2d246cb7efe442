create table sessions (
	key        text not null primary key check (key <> ''),
	agent      text not null check (agent <> ''),
	thread     text not null,
	settings   text not null,
	created_at bigint not null,
	updated_at bigint not null
);

create table lanes (
	session    text not null primary key references sessions (key),
	class      text not null check (class <> ''),
	owner      text not null default '',
	token      bigint not null default 0 check (token >= 0),
	expires_at bigint not null default 0,
	turn       text not null default '',
	arrivals   bigint not null default 0 check (arrivals >= 0)
);

create index lanes_owned on lanes (owner) where owner <> '';

create table threads (
	id         text not null primary key check (id <> ''),
	session    text not null references sessions (key),
	title      text not null,
	head       text not null,
	seq        bigint not null check (seq >= 0),
	state      text not null check (state <> ''),
	created_at bigint not null,
	updated_at bigint not null
);

create index threads_session on threads (session, created_at);

create table turns (
	id          text not null primary key check (id <> ''),
	session     text not null references sessions (key),
	thread      text not null references threads (id),
	state       text not null check (state <> ''),
	origin      text not null,
	model       text not null,
	overrides   text not null,
	base        text not null,
	crashes     bigint not null check (crashes >= 0),
	steps       bigint not null check (steps >= 0),
	stop        bigint not null check (stop in (0, 1)),
	failure     text not null,
	created_at  bigint not null,
	finished_at bigint not null
);

create unique index turns_live on turns (thread) where state in ('processing', 'awaiting_approval');

create index turns_ready on turns (session) where state = 'processing';

create index turns_thread on turns (thread, created_at);

create table entries (
	id         text not null primary key check (id <> ''),
	thread     text not null references threads (id),
	parent     text not null,
	turn       text not null references turns (id),
	seq        bigint not null check (seq > 0),
	kind       text not null check (kind <> ''),
	body       text not null,
	tokens     bigint not null check (tokens >= 0),
	created_at bigint not null,
	unique (thread, seq)
);

create table tool_calls (
	id          text not null primary key check (id <> ''),
	turn        text not null references turns (id),
	thread      text not null references threads (id),
	session     text not null references sessions (key),
	step        bigint not null check (step > 0),
	place       bigint not null check (place >= 0),
	ref         text not null,
	tool        text not null,
	args        text not null,
	effect      text not null,
	resume      text not null,
	state       text not null check (state <> ''),
	why         text not null,
	intent      text not null,
	changes     text not null,
	created_at  bigint not null,
	started_at  bigint not null,
	finished_at bigint not null,
	unique (turn, step, place)
);

create table approvals (
	id          text not null primary key check (id <> ''),
	call        text not null unique references tool_calls (id),
	turn        text not null references turns (id),
	thread      text not null references threads (id),
	session     text not null references sessions (key),
	state       text not null check (state <> ''),
	tool        text not null,
	effect      text not null,
	args_hash   text not null check (args_hash <> ''),
	preview     text not null,
	subjects    text not null,
	exact       bigint not null check (exact in (0, 1)),
	reason      text not null,
	floor       bigint not null check (floor in (0, 1)),
	answer      text not null,
	pattern     text not null,
	comment     text not null,
	answered_by text not null,
	created_at  bigint not null,
	expires_at  bigint not null,
	answered_at bigint not null
);

create index approvals_pending on approvals (session, created_at) where state = 'pending';

create table grants (
	id         text not null primary key check (id <> ''),
	agent      text not null check (agent <> ''),
	session    text not null,
	tool       text not null check (tool <> ''),
	pattern    text not null,
	literal    bigint not null check (literal in (0, 1)),
	approval   text not null references approvals (id),
	created_at bigint not null,
	check (session <> '' or pattern <> '')
);

create index grants_agent on grants (agent, tool);

create table inbox (
	id         text not null primary key check (id <> ''),
	session    text not null references sessions (key),
	thread     text not null,
	seq        bigint not null check (seq > 0),
	channel    text not null check (channel <> ''),
	account    text not null,
	message_id text not null check (message_id <> ''),
	state      text not null check (state <> ''),
	turn       text not null,
	dropped    text not null,
	node       text not null,
	body       text not null,
	tokens     bigint not null,
	reply      text not null,
	created_at bigint not null,
	unique (channel, account, message_id),
	check (state <> 'waiting' or turn = ''),
	check (state <> 'taken' or turn <> ''),
	check (state = 'dropped' or dropped = ''),
	check (reply = '' or state = 'answered')
);

create index inbox_waiting on inbox (session, seq) where state = 'waiting';

create index inbox_untold on inbox (session, seq) where dropped = 'summarize' and turn = '';

create table outbox (
	id         text not null primary key check (id <> ''),
	session    text not null references sessions (key),
	turn       text not null references turns (id),
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

create index outbox_pending on outbox (channel, created_at) where state = 'pending';

create table usage (
	id          text not null primary key check (id <> ''),
	session     text not null references sessions (key),
	turn        text not null references turns (id),
	step        bigint not null check (step > 0),
	model       text not null check (model <> ''),
	purpose     text not null check (purpose <> ''),
	input       bigint not null check (input >= 0),
	output      bigint not null check (output >= 0),
	cache_read  bigint not null check (cache_read >= 0),
	cache_write bigint not null check (cache_write >= 0),
	reasoning   bigint not null check (reasoning >= 0),
	created_at  bigint not null
);

create index usage_session on usage (session, created_at);

create table work (
	id         text not null primary key check (id <> ''),
	kind       text not null check (kind <> ''),
	key        text not null check (key <> ''),
	args       text not null,
	state      text not null check (state <> ''),
	attempts   bigint not null check (attempts >= 0),
	error      text not null,
	due_at     bigint not null,
	owner      text not null,
	created_at bigint not null
);

create unique index work_live on work (kind, key) where state in ('due', 'running');

create index work_due on work (due_at) where state in ('due', 'running');
