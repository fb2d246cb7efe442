create table searched (
	n     bigint not null,
	entry text not null references entries (id),
	words tsvector not null,
	primary key (n, entry)
);

create index searched_words on searched using gin (words);

create table search_backlog (
	thread text not null primary key references threads (id),
	seq    bigint not null check (seq > 0)
);

insert into search_backlog (thread, seq) select id, seq from threads where seq > 0;
