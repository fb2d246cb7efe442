package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// maxDamage bounds the problems that Check returns.
const maxDamage = 20

// Check reads the whole database and returns one line for each problem in its
// data, 20 at most; none if the data is intact. On SQLite it runs the integrity
// check and the foreign key check. On PostgreSQL it reads every row of every
// table, and verifies the B-tree indexes if the extension amcheck is installed
// and accessible. It returns Unavailable if damage prevents the check itself.
func (d *Database) Check(ctx context.Context) (damage []string, err error) {
	err = d.Read(ctx, func(tx Tx) error {
		damage, err = d.engine.check(ctx, tx)
		return err
	})
	return damage[:min(len(damage), maxDamage)], err
}

func (e *sqlite) check(ctx context.Context, tx Tx) (damage []string, err error) {
	reports, err := names(ctx, tx, fmt.Sprintf("pragma integrity_check(%d)", maxDamage))
	if err != nil {
		return nil, err
	}
	for _, report := range reports { // a report may have a heading and several lines
		for line := range strings.SplitSeq(report, "\n") {
			if line != "ok" && line != "*** in database main ***" {
				damage = append(damage, line)
			}
		}
	}
	if len(damage) > 0 {
		return damage, nil
	}
	return names(ctx, tx, fmt.Sprintf(`select 'a row of ' || "table" || ' refers to a missing row of ' || "parent"
		from pragma_foreign_key_check limit %d`, maxDamage))
}

func (e *postgres) check(ctx context.Context, tx Tx) (damage []string, err error) {
	tables, err := names(ctx, tx, `select quote_ident(tablename) from pg_tables
		where schemaname = current_schema() and has_table_privilege(format('%I.%I', schemaname, tablename), 'select') order by 1`)
	if err != nil {
		return nil, err
	}
	for _, table := range tables {
		// The conversion to text also reads values that are stored out of line.
		if _, err := tx.Exec(ctx, `select count(t::text) from `+table+` as t`); err != nil {
			return damageOf("table "+table, err)
		}
	}
	verify, err := names(ctx, tx, `select p.oid::regproc::text from pg_proc p join pg_depend d on d.objid = p.oid and d.deptype = 'e'
		join pg_extension e on e.oid = d.refobjid
		where e.extname = 'amcheck' and p.proname = 'bt_index_check' and p.pronargs = 1 and has_function_privilege(p.oid, 'execute')`)
	if err != nil || len(verify) == 0 {
		return nil, err
	}
	indexes, err := names(ctx, tx, `select i.indexrelid::regclass::text from pg_index i join pg_class c on c.oid = i.indexrelid
		join pg_am a on a.oid = c.relam
		where a.amname = 'btree' and c.relkind = 'i' and i.indisvalid and c.relnamespace = current_schema()::regnamespace order by 1`)
	if err != nil {
		return nil, err
	}
	for _, index := range indexes {
		if _, err := tx.Exec(ctx, `select `+verify[0]+`($1::text::regclass)`, index); err != nil {
			return damageOf("index "+index, err)
		}
	}
	return nil, nil
}

// damageOf returns err as damage to part of the database, or as an error if the
// cause is another. The error ended the transaction, so the check ends too.
func damageOf(part string, err error) ([]string, error) {
	var e *pgconn.PgError
	if !errors.As(err, &e) || !isDamage(e) {
		return nil, err
	}
	return []string{part + ": " + e.Message}, nil
}
