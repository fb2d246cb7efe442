create function refuse_change() returns trigger language plpgsql as $$
begin
	raise exception '% is append-only', tg_table_name using errcode = 'integrity_constraint_violation';
end $$;

create trigger entries_kept before update or delete on entries for each row execute function refuse_change();

create trigger usage_kept before update or delete on usage for each row execute function refuse_change();
