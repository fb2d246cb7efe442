create table searched (
	n     integer not null primary key,
	entry text not null references entries (id)
);

create virtual table searched_words using fts5 (
	scope, words, content = '', contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 0'
);

create trigger searched_words_deleted after delete on searched begin
	delete from searched_words where rowid = old.n;
end;

create table search_backlog (
	thread text not null primary key references threads (id),
	seq    bigint not null check (seq > 0)
);

insert into search_backlog (thread, seq) select id, seq from threads where seq > 0;
