-- Requests that were sent with a key, so that they are carried out once.
create table keyed_requests (
	account    text not null check (account <> ''), -- the id of a token
	key        text not null check (key <> ''),
	hash       text not null check (hash <> ''),
	state      text not null check (state <> ''),
	status     bigint not null,
	media_type text not null,
	answer     text not null,
	created_at bigint not null,
	expires_at bigint not null,
	primary key (account, key)
);

create index keyed_requests_expired on keyed_requests (expires_at);
