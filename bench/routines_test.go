package bench_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"chela"
	"chela/internal/store"
)

// fireKind is the work that lets a routine fire.
const fireKind = "fire"

// errUndone takes back what was claimed.
var errUndone = errors.New("undone")

// due measures how long it takes to decide which of many routines are due: to look
// when the first is, and to claim those that are, without the commit. Of a thousand
// one is due.
func due(tb testing.TB, place placeFunc, n, looks int) (took sample) {
	tb.Helper()
	s, err := store.Open(tb.Context(), place(tb))
	if err != nil {
		tb.Fatal(err)
	}
	defer s.Close()
	begun := time.Now().UTC().Truncate(time.Second)
	for at := 0; at < n; at += 1000 {
		err := s.Write(tb.Context(), "bench", func(w *store.Write) error { return addRoutines(tb, w, begun, at, min(n, at+1000)) })
		if err != nil {
			tb.Fatal(err)
		}
	}
	now := begun.Add(year / 1000)
	repeat(tb, looks, func() error {
		before := time.Now()
		next, err := store.Find(tb.Context(), s, func(r *store.Read) (map[string]time.Time, error) {
			if _, err := r.WorkOwners(tb.Context()); err != nil {
				return nil, err
			}
			return r.NextWork(tb.Context())
		})
		if err != nil || next[fireKind].After(now) {
			return errors.Join(err, errors.New("none is due"))
		}
		err = s.Write(tb.Context(), "bench", func(w *store.Write) error {
			got, err := w.ClaimWork(tb.Context(), store.WorkClaim{Node: "node_a", Kind: fireKind, Now: now, Until: now.Add(time.Minute), Limit: 4})
			if err == nil && len(got) == 0 {
				err = errors.New("none is due")
			}
			return errors.Join(err, errUndone)
		})
		if !errors.Is(err, errUndone) {
			return err
		}
		took = append(took, time.Since(before).Seconds()*1e3)
		return nil
	})
	return took
}

const year = 365 * 24 * time.Hour

// addRoutines adds the routines from one number to another, which are due at times
// spread over a year, in no order.
func addRoutines(tb testing.TB, w *store.Write, begun time.Time, from, to int) error {
	tb.Helper()
	for i := from; i < to; i++ {
		name := fmt.Sprintf("routine%d", i)
		at := begun.Add(time.Duration(i) * 7919 * time.Hour % year)
		v := chela.Routine{
			ID: chela.RoutineID("rtn_" + name), Name: name, Agent: "main", Enabled: true, Version: 1, NextAt: at, CreatedAt: begun, UpdatedAt: begun,
			Action: chela.RoutineAction{Kind: chela.ActionEvent, Text: "it is time"},
		}
		switch i % 3 {
		case 0:
			v.Trigger = chela.Trigger{Kind: chela.TriggerCron, Cron: at.Format("4 15 2 1 *"), Zone: "UTC"}
		case 1:
			v.Trigger = chela.Trigger{Kind: chela.TriggerEvery, Every: chela.Span(year), Anchor: at}
		default:
			v.Trigger = chela.Trigger{Kind: chela.TriggerAt, At: at}
		}
		fire := chela.Work{ID: chela.WorkID("work_" + name), Kind: fireKind, Key: string(v.ID), State: chela.WorkDue, DueAt: at, CreatedAt: begun}
		if err := w.AddRoutine(tb.Context(), v); err != nil {
			return err
		}
		if err := w.SetWork(tb.Context(), fire); err != nil {
			return err
		}
	}
	return nil
}

// dueRows measures it on both databases.
func dueRows(tb testing.TB, n, looks int) (rows []row) {
	tb.Helper()
	for _, p := range []struct {
		name  string
		place placeFunc
	}{{"SQLite", onSQLite}, {"PostgreSQL", onServer}} {
		rows = append(rows, due(tb, p.place, n, looks).row(row{
			what: fmt.Sprintf("which of %d routines are due, %s", n, p.name), unit: "ms", target: "<=", limit: 5,
		}))
	}
	return rows
}
