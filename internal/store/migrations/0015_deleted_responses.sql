-- Responses that a client of OpenAI's API deleted. What was said stays in its thread.
create table deleted_responses (
	id         text not null primary key check (id <> ''),
	turn       text not null references turns (id),
	deleted_at bigint not null
);
