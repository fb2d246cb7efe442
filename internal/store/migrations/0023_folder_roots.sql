alter table folders add column roots text not null default '';
