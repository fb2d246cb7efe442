package store_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/platform/pgtest"
	"chela/internal/store"
)

// TestCheckFindsDamagedPage overwrites the content of one page of the file.
func TestCheckFindsDamagedPage(t *testing.T) {
	t.Parallel()
	for name, part := range map[string]string{"table": "sessions", "index": "sqlite_autoindex_sessions_1"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			place := sqlite.place(t)
			s := open(t, place)
			if err := s.Write(t.Context(), "test", create("a")); err != nil {
				t.Fatal(err)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			db := sqlite.raw(t, place)
			size, page := count(t, db, "pragma page_size"), count(t, db, "select rootpage from sqlite_master where name = '"+part+"'")
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			raw := content(t, place.Path)
			end := raw[:page*size]
			copy(end[len(end)-8:], "\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f") // rows are stored from the end
			if err := os.WriteFile(place.Path, raw, 0o600); err != nil {
				t.Fatal(err)
			}
			wantDamage(t, open(t, place), "")
		})
	}
}

// TestCheckFindsMissingParent adds rows without the row that they refer to.
func TestCheckFindsMissingParent(t *testing.T) {
	t.Parallel()
	place := sqlite.place(t)
	s, db := open(t, place), sqlite.raw(t, place)
	must(t, db, "pragma foreign_keys = off")
	for i := range 30 {
		must(t, db, insert("lanes", columns{"session": fmt.Sprintf("'%d'", i)}))
	}
	damage, err := s.Check(t.Context())
	want := strings.Split(strings.Repeat("a row of lanes refers to a missing row of sessions\n", 20), "\n")[:20]
	if diff := cmp.Diff(want, damage); diff != "" || err != nil {
		t.Error(err, diff)
	}
}

// TestCheckFindsDamageOfPostgres overwrites the first page of a table, or the root of
// an index, and restarts the server, which had the page in memory.
func TestCheckFindsDamageOfPostgres(t *testing.T) {
	t.Parallel()
	cluster := pgtest.New(t)
	for _, c := range []struct{ part, relation, halfPages string }{
		{"table sessions", "sessions", "0"}, {"index sessions_pkey", "sessions_pkey", "2"},
	} {
		place := store.Config{URL: cluster.URL(t)}
		s, db := open(t, place), postgres.raw(t, place)
		if err := s.Write(t.Context(), "test", create("a")); err != nil {
			t.Fatal(err)
		}
		must(t, db, "create extension amcheck")
		if damage, err := s.Check(t.Context()); err != nil || len(damage) > 0 {
			t.Errorf("intact: %q, %v", damage, err)
		}
		must(t, db, "checkpoint")
		must(t, db, "do $$ begin execute 'copy (select 1) to program ' || quote_literal("+
			"'cat >/dev/null; dd if=/dev/urandom bs=4096 count=1 conv=notrunc seek="+c.halfPages+" of=' || pg_relation_filepath('"+c.relation+"')); end $$")
		cluster.Restart(t)
		wantDamage(t, s, c.part)
	}
}

// wantDamage fails t unless the check of a database finds damage, or is prevented
// by damage where no part is named.
func wantDamage(t *testing.T, s *store.Store, part string) {
	t.Helper()
	damage, err := s.Check(t.Context())
	switch {
	case part == "" && chela.KindOf(err) == chela.Unavailable && strings.Contains(chela.MessageOf(err), "damaged"):
	case err != nil, len(damage) == 0, !strings.HasPrefix(damage[0], part):
		t.Errorf("%q, %v", damage, err)
	default:
		t.Logf("%q", damage)
	}
}
