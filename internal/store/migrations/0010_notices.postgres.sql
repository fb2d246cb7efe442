alter table outbox alter column turn drop not null;
