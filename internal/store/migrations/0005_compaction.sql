alter table entries add column kept text not null default '';
