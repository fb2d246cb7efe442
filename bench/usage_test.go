package bench_test

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"chela"
	"chela/internal/engine/cost"
	"chela/internal/platform/local"
	"chela/internal/store"
)

// reports measures reports over a ledger of n rows: of a hundred models and purposes
// within the last thirty days, which no batch has summed before. The first report,
// which sums them, is not part of the sample.
func reports(tb testing.TB, place placeFunc, n, looks int) (took sample, first time.Duration) {
	tb.Helper()
	where := place(tb)
	s, err := store.Open(tb.Context(), where)
	if err != nil {
		tb.Fatal(err)
	}
	defer s.Close()
	charged(tb, where, n)
	l := cost.New(s, cost.Config{Process: local.Process{Now: time.Now, Log: slog.New(slog.DiscardHandler)}, Zone: time.UTC})
	report := func(by chela.UsageBy) error {
		sums, err := l.Sums(tb.Context(), by, time.Time{})
		var total chela.UsageSum
		for _, sum := range sums {
			total = total.Plus(sum)
		}
		if err == nil && total.Calls != n {
			err = fmt.Errorf("%d of %d calls are reported", total.Calls, n)
		}
		return err
	}
	begun := time.Now()
	if err := report(chela.UsageByDayModel); err != nil {
		tb.Fatal(err)
	}
	first = time.Since(begun)
	repeat(tb, looks, func() error {
		before := time.Now()
		for _, by := range []chela.UsageBy{chela.UsageByDayModel, chela.UsageByPurpose} {
			if err := report(by); err != nil {
				return err
			}
		}
		took = append(took, time.Since(before).Seconds()*1e3/2)
		return nil
	})
	return took, first
}

// charged adds n rows to the ledger by SQL.
func charged(tb testing.TB, where store.Config, n int) {
	tb.Helper()
	const insert = `insert into usage (id, step, job, routine, model, purpose, state, input, output, cache_read, cache_write, reasoning,
			cost, guessed, node, created_at)
		select 'use_' || i, 0, '', '', 'fake/m' || i %% 10, 'purpose' || i %% 10, 'settled', 1000, 100, 10, 1, 5, 250, 0, '',
			%d - (cast(i as bigint) * 7919000000) %% 2592000000000 from %s`
	now := time.Now().UnixMicro()
	if where.Path == "" {
		conn, err := pgx.Connect(tb.Context(), where.URL)
		if err != nil {
			tb.Fatal(err)
		}
		defer conn.Close(context.WithoutCancel(tb.Context()))
		_, err = conn.Exec(tb.Context(), fmt.Sprintf(insert, now, fmt.Sprintf("generate_series(1, %d) as i", n)))
		if err != nil {
			tb.Fatal(err)
		}
		return
	}
	db, err := sql.Open("sqlite", where.Path)
	if err != nil {
		tb.Fatal(err)
	}
	defer db.Close()
	count := fmt.Sprintf("(with recursive n (i) as (select 1 union all select i + 1 from n where i < %d) select i from n)", n)
	if _, err := db.ExecContext(tb.Context(), fmt.Sprintf(insert, now, count)); err != nil {
		tb.Fatal(err)
	}
}

// reportRows measures it on both databases.
func reportRows(tb testing.TB, n, looks int) (rows []row) {
	tb.Helper()
	for _, p := range []struct {
		name  string
		place placeFunc
	}{{"SQLite", onSQLite}, {"PostgreSQL", onServer}} {
		took, first := reports(tb, p.place, n, looks)
		rows = append(rows, took.row(row{
			what: fmt.Sprintf("a usage report of %d rows, %s", n, p.name), unit: "ms", target: "<=", limit: 50,
			more: fmt.Sprintf("the first, which sums them, %s s", number(first.Seconds())),
		}))
	}
	return rows
}
