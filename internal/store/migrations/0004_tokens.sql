create table tokens (
	id         text not null primary key check (id <> ''),
	name       text not null check (name <> ''),
	hash       text not null unique check (hash <> ''),
	scope      text not null check (scope <> ''),
	created_at bigint not null,
	revoked_at bigint not null
);

create table logins (
	hash       text not null primary key check (hash <> ''),
	token      text not null references tokens (id),
	created_at bigint not null,
	expires_at bigint not null
);

create index logins_expired on logins (expires_at);
