create trigger entries_kept before delete on entries begin select raise(abort, 'entries are append-only'); end;

create trigger entries_fixed before update on entries begin select raise(abort, 'entries are append-only'); end;

create trigger usage_kept before delete on usage begin select raise(abort, 'usage is append-only'); end;

create trigger usage_fixed before update on usage begin select raise(abort, 'usage is append-only'); end;
