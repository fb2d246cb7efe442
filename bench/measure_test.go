package bench_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"chela/internal/platform/pgtest"
	"chela/internal/store"
)

// repeat runs f n times.
func repeat(tb testing.TB, n int, f func() error) {
	tb.Helper()
	for range n {
		if err := f(); err != nil {
			tb.Fatal(err)
		}
	}
}

// versus runs two things in turns, so that both meet the same machine, and
// returns the microseconds that a median run of each took.
func versus(tb testing.TB, runs int, one, other func() error) (a, b float64) {
	tb.Helper()
	var took [2]sample
	for range runs {
		for i, f := range []func() error{one, other} {
			begun := time.Now()
			if err := f(); err != nil {
				tb.Fatal(err)
			}
			took[i] = append(took[i], time.Since(begun).Seconds()*1e6)
		}
	}
	return took[0].median(), took[1].median()
}

// overhead compares turns with their rows written by hand.
func overhead(tb testing.TB, k kind, rounds, runs int) []row {
	tb.Helper()
	rows := recorded(tb, empty(tb), k, rounds*runs)
	turns := openHome(tb, onSQLite(tb), 1, k, nil)
	byHand := newHand(tb, empty(tb), k, rows, turns.workspace)
	var turn, hand, ratios sample
	for range rounds {
		t, h := versus(tb, runs,
			func() error { return turns.turn(tb.Context(), turns.sessions[0], k) },
			func() error { return byHand.turn(tb.Context()) })
		turn, hand, ratios = append(turn, t), append(hand, h), append(ratios, t/h)
	}
	turns.close()
	changes := 0
	for _, commit := range rows[1] {
		changes += len(commit)
	}
	return []row{
		{what: "commits of a " + k.name + " turn", value: float64(len(rows[1])), target: "==", limit: float64(k.commits)},
		ratios.row(row{
			what: "a " + k.name + " turn over its rows by hand", target: "<=", limit: 2,
			more: fmt.Sprintf("%.0f µs, by hand %.0f µs for %d rows", turn.median(), hand.median(), changes),
		}),
	}
}

// long compares the last tenth of a session's turns with the first tenth of
// another such session, and says how much of the database a turn takes.
func long(tb testing.TB, rounds, turns int) []row {
	tb.Helper()
	var first, last, ratios, size sample
	k := kinds[0]
	for range rounds {
		oldPlace := onSQLite(tb)
		older, fresh := openHome(tb, oldPlace, 1, k, nil), openHome(tb, onSQLite(tb), 2, k, nil)
		// The second session of the fresh home lets the log of its database grow
		// to full size: a sync costs less from then on.
		repeat(tb, turns/5, func() error { return fresh.turn(tb.Context(), fresh.sessions[1], k) })
		repeat(tb, turns-turns/10-1, func() error { return older.turn(tb.Context(), older.sessions[0], k) })
		l, f := versus(tb, turns/10,
			func() error { return older.turn(tb.Context(), older.sessions[0], k) },
			func() error { return fresh.turn(tb.Context(), fresh.sessions[0], k) })
		older.close()
		fresh.close()
		st, err := os.Stat(oldPlace.Path)
		if err != nil {
			tb.Fatal(err)
		}
		first, last, ratios = append(first, f), append(last, l), append(ratios, l/f)
		size = append(size, float64(st.Size())/float64(turns)/1e3)
	}
	return []row{
		ratios.row(row{
			what: fmt.Sprintf("%d turns, last tenth over first", turns), target: "<=", limit: 1.1,
			more: fmt.Sprintf("%.0f µs, first %.0f µs", last.median(), first.median()),
		}),
		size.row(row{what: "database for a text turn", unit: "kB", target: "<=", limit: 5, more: "the whole file over its turns"}),
	}
}

// A placeFunc makes a new database.
type placeFunc func(testing.TB) store.Config

// rates measures turns a second for numbers of sessions, each of which has some
// turns. Every number comes from a new home.
func rates(tb testing.TB, k kind, place placeFunc, turns map[int]int) map[int]float64 {
	tb.Helper()
	found := map[int]float64{}
	for n, each := range turns {
		h := openHome(tb, place(tb), n, k, nil)
		found[n] = rate(tb, h, k, each)
		h.close()
	}
	return found
}

// sideBySide shows the rates on both databases, which take turns.
func sideBySide(tb testing.TB, places map[string]placeFunc, rounds int, turns map[int]int) (rows []row) {
	tb.Helper()
	for _, k := range kinds[:2] {
		samples := map[string]sample{}
		for range rounds {
			for engine, place := range places {
				for n, found := range rates(tb, k, place, turns) {
					what := fmt.Sprintf("%s turns, %2d sessions, %s", k.name, n, engine)
					samples[what] = append(samples[what], found)
				}
			}
		}
		for _, what := range slices.Sorted(maps.Keys(samples)) {
			rows = append(rows, samples[what].row(row{what: what, unit: "turns/s"}))
		}
	}
	return rows
}

// overShared compares text turns of 64 sessions at once with their rows written by hand,
// 32 turns in each commit: a turn commits twice, and a group commit has the functions of
// at most 64 sessions.
func overShared(tb testing.TB, rounds, commits int) []row {
	tb.Helper()
	const sessions, shared = 64, 32
	rows := recorded(tb, empty(tb), kinds[0], commits*shared)
	var ratios, raw sample
	for range rounds {
		h := openHome(tb, onSQLite(tb), sessions, kinds[0], nil)
		turns := rate(tb, h, kinds[0], max(commits*shared/sessions, 1))
		h.close()
		byHand := newHand(tb, empty(tb), kinds[0], rows, "")
		begun := time.Now()
		repeat(tb, commits, func() error { return byHand.group(tb.Context(), shared) })
		raw = append(raw, float64(commits*shared)/time.Since(begun).Seconds())
		ratios = append(ratios, turns/raw[len(raw)-1])
	}
	return []row{
		raw.row(row{what: "rows of text turns by hand, shared commits", unit: "turns/s"}),
		ratios.row(row{what: "text turns, 64 sessions, over those", target: ">=", limit: 0.3}),
	}
}

// onServer is a new database on the server of the tests.
func onServer(tb testing.TB) store.Config { return store.Config{URL: pgtest.URL(tb)} }

// synced begins a server that syncs like one in production, which that of the
// tests does not.
func synced(tb testing.TB) placeFunc {
	tb.Helper()
	cluster := pgtest.New(tb)
	conn, err := pgx.Connect(tb.Context(), cluster.URL(tb))
	if err != nil {
		tb.Fatal(err)
	}
	for _, statement := range []string{
		"alter system set fsync = on", "alter system set full_page_writes = on", "select pg_reload_conf()",
	} {
		if _, err := conn.Exec(tb.Context(), statement); err != nil {
			tb.Fatal(err)
		}
	}
	if err := conn.Close(tb.Context()); err != nil {
		tb.Fatal(err)
	}
	return func(tb testing.TB) store.Config { return store.Config{URL: cluster.URL(tb)} }
}

// slowRates measures text turns a second of one session and of 64, round by
// round.
func slowRates(tb testing.TB, rounds, one, many int) (found []map[int]float64) {
	tb.Helper()
	for range rounds {
		found = append(found, rates(tb, kinds[0], onSQLite, map[int]int{1: one, 64: many}))
	}
	return found
}

// grouped tells how much 64 sessions at once gain from sharing their commits
// when each sync takes 5 ms. It runs this very package as a build with
// failpoints.
func grouped(tb testing.TB) []row {
	tb.Helper()
	dir := tb.TempDir()
	program, result := filepath.Join(dir, "slow.test"), filepath.Join(dir, "rates.json")
	if out, err := exec.Command("go", "test", "-c", "-tags", "failpoint", "-o", program, ".").CombinedOutput(); err != nil {
		tb.Fatalf("build with failpoints: %v\n%s", err, out)
	}
	cmd := exec.Command(program, "-test.run=^TestSlowRates$", "-slow="+result)
	cmd.Env = append(os.Environ(), "CHELA_FAILPOINTS=store.commit=sleep(5ms)")
	if out, err := cmd.CombinedOutput(); err != nil {
		tb.Fatalf("measure with a slow sync: %v\n%s", err, out)
	}
	raw, err := os.ReadFile(result)
	if err != nil {
		tb.Fatal(err)
	}
	var found []map[int]float64
	if err := json.Unmarshal(raw, &found); err != nil {
		tb.Fatal(err)
	}
	var one, many, ratios sample
	for _, round := range found {
		one, many, ratios = append(one, round[1]), append(many, round[64]), append(ratios, round[64]/round[1])
	}
	return []row{ratios.row(row{
		what: "64 sessions over 1, a sync takes 5 ms", target: ">=", limit: 20,
		more: fmt.Sprintf("%.0f turns/s, one session %.0f", many.median(), one.median()),
	})}
}
