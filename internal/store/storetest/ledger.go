package storetest

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"chela"
	"chela/internal/store"
)

// day is the budget of the day that all rows of a test are made in.
func day(most int64) chela.Budget {
	return chela.Budget{Limit: chela.LimitDay, Most: most, Since: at(0), Resets: at(0).AddDate(0, 0, 1)}
}

// claims is what a call claims from.
func claims(budgets ...chela.Budget) (all []store.Claim) {
	for _, b := range budgets {
		all = append(all, store.Claim{Budget: b})
	}
	return all
}

// count counts budgets.
func count(t testing.TB, s *store.Store, budgets ...chela.Budget) {
	t.Helper()
	write(t, s, func(w *store.Write) error { return w.CountBudgets(t.Context(), budgets, at(0)) })
}

// reserved is a row that reserves an amount.
func (f family) reserved(id string, amount chela.MicroUSD) chela.Usage {
	u := f.newUsage(id, chela.TokenUsage{})
	u.State, u.Cost, u.Node, u.Turn = chela.UsageReserved, amount, "node_a", ""
	return u
}

func reserve(t testing.TB, s *store.Store, u chela.Usage, claims []store.Claim) error {
	t.Helper()
	return s.Write(t.Context(), "storetest", func(w *store.Write) error { return w.Reserve(t.Context(), u, claims, func(store.Claim) {}) })
}

func settle(t testing.TB, s *store.Store, u chela.Usage, state chela.UsageState, cost chela.MicroUSD) {
	t.Helper()
	u.State, u.Cost = state, cost
	write(t, s, func(w *store.Write) error { return w.Settle(t.Context(), u) })
}

// errTried takes a claim back.
var errTried = errors.New("only tried")

// checkLeft checks that exactly so much can still be claimed from a budget.
func (f family) checkLeft(t testing.TB, s *store.Store, b chela.Budget, want int64) {
	t.Helper()
	try := func(amount int64) error {
		u := f.reserved("tried", chela.MicroUSD(amount))
		switch b.Limit {
		case chela.LimitDay:
			u.CreatedAt = b.Since
		case chela.LimitSession:
			u.Session = chela.SessionKey(b.Key)
		case chela.LimitTurn:
			u.Turn = chela.TurnID(b.Key)
		case chela.LimitJob:
			u.Job = chela.JobID(b.Key)
		case chela.LimitRoutine:
			u.Routine = chela.RoutineID(b.Key)
		}
		return s.Write(t.Context(), "storetest", func(w *store.Write) error {
			if err := w.Reserve(t.Context(), u, claims(b), nil); err != nil {
				return err
			}
			if _, err := w.Reservations(t.Context(), ""); err != nil {
				return err
			}
			return errTried
		})
	}
	var e *chela.Error
	if err := try(want + 1); !errors.As(err, &e) || e.Kind != chela.Exhausted || e.Limit != b.Limit {
		t.Errorf("claiming %d of %s %q: %v, want that the limit is reached", want+1, b.Limit, b.Key, err)
	}
	reservedAlready := func(err error) bool { return b.Limit == chela.LimitTurn && chela.KindOf(err) == chela.Conflict }
	if err := try(want); want >= 0 && !errors.Is(err, errTried) && !reservedAlready(err) {
		t.Errorf("claiming %d of %s %q: %v", want, b.Limit, b.Key, err)
	}
}

func checkUsageRows(t *testing.T, s *store.Store) {
	ctx := t.Context()
	f := found(t, s, "f")
	u := full[chela.Usage]()
	u.Session, u.Turn, u.CreatedAt = f.key, f.turn, at(3)
	bare := f.newUsage("bare", chela.TokenUsage{Input: 1})
	bare.Session, bare.Turn, bare.Step = "", "", 0
	for _, row := range []chela.Usage{u, bare} {
		write(t, s, func(w *store.Write) error { return w.Charge(ctx, row) })
	}
	got := read(t, s, func(r *store.Read) ([]chela.Usage, error) {
		return r.TurnUsage(ctx, chela.Turn{ID: f.turn, Session: f.key, CreatedAt: at(0)})
	})
	same(t, []chela.Usage{u}, got)

	open := u
	open.ID, open.State, open.Tokens, open.Cost, open.Guessed = "use_open", chela.UsageReserved, chela.TokenUsage{}, 7, false
	write(t, s, func(w *store.Write) error { return w.Reserve(ctx, open, nil, nil) })
	same(t, []chela.Usage{open}, read(t, s, func(r *store.Read) ([]chela.Usage, error) { return r.Reservations(ctx, "") }))
	sum := read(t, s, func(r *store.Read) (chela.UsageSum, error) { return r.UsageSince(ctx, "", time.Time{}) })
	same(t, [2]chela.MicroUSD{u.Cost, 7}, [2]chela.MicroUSD{sum.Cost, sum.Reserved})
	settled := u
	settled.ID, settled.State, settled.Model = "use_open", chela.UsageSettled, "m/served"
	write(t, s, func(w *store.Write) error { return w.Settle(ctx, settled) })
	same(t, nil, read(t, s, func(r *store.Read) ([]chela.Usage, error) { return r.Reservations(ctx, "") }))
	got = read(t, s, func(r *store.Read) ([]chela.Usage, error) {
		return r.TurnUsage(ctx, chela.Turn{ID: f.turn, Session: f.key, CreatedAt: at(0)})
	})
	same(t, 2, len(got))
	same(t, settled, got[slices.IndexFunc(got, func(u chela.Usage) bool { return u.ID == settled.ID })])
	kept := func(u chela.Usage) (settled bool) {
		write(t, s, func(w *store.Write) error { return w.SettleIfOpen(ctx, u, func() { settled = true }) })
		return settled
	}
	late := settled
	late.Cost, late.Tokens.Input = 1000*settled.Cost, 1000
	same(t, false, kept(late))
	got = read(t, s, func(r *store.Read) ([]chela.Usage, error) {
		return r.TurnUsage(ctx, chela.Turn{ID: f.turn, Session: f.key, CreatedAt: at(0)})
	})
	same(t, settled, got[slices.IndexFunc(got, func(u chela.Usage) bool { return u.ID == settled.ID })])
	all := read(t, s, func(r *store.Read) (chela.UsageSum, error) { return r.UsageSince(ctx, "", time.Time{}) })
	same(t, 3, all.Calls)
	same(t, 2*u.Cost, all.Cost)
	same(t, 2*u.Cost, all.Guessed)
	same(t, 0, all.Reserved)
}

func checkUsageParts(t *testing.T, s *store.Store) {
	ctx := t.Context()
	f := found(t, s, "f")
	quarter := 15 * time.Minute
	for i, after := range []time.Duration{0, quarter - 1000, quarter, quarter} {
		u := f.newUsage(fmt.Sprint(i), chela.TokenUsage{Input: int64(i)})
		u.CreatedAt, u.Cost, u.Model, u.Routine = time.Unix(1_800_000_000, 0).UTC().Add(after), chela.MicroUSD(10*i), fmt.Sprint("m/", i%3), "rtn_1"
		if i == 3 {
			u.State, u.Session, u.Turn = chela.UsageReleased, "", ""
		}
		write(t, s, func(w *store.Write) error { return w.Charge(ctx, u) })
	}
	sum := func(calls int, input int64, cost chela.MicroUSD) chela.UsageSum {
		return chela.UsageSum{Calls: calls, Tokens: chela.TokenUsage{Input: input}, Cost: cost}
	}
	check := func(by chela.UsageBy, since time.Time, want map[string]chela.UsageSum) {
		t.Helper()
		same(t, want, parts(t, s, by, since, time.UTC))
	}
	check(chela.UsageByDay, time.Time{}, map[string]chela.UsageSum{" 08:00": sum(2, 1, 10), " 08:15": sum(1, 2, 20)})
	check(chela.UsageByDayModel, time.Time{}, map[string]chela.UsageSum{"m/0 08:00": sum(1, 0, 0), "m/1 08:00": sum(1, 1, 10), "m/2 08:15": sum(1, 2, 20)})
	for round := range 2 { // with and without sums of days
		check(chela.UsageByModel, time.Unix(1_800_000_900, 0), map[string]chela.UsageSum{"m/2": sum(1, 2, 20)})
		check(chela.UsageBySession, time.Time{}, map[string]chela.UsageSum{string(f.key): sum(3, 3, 30)})
		check(chela.UsageByRoutine, time.Time{}, map[string]chela.UsageSum{"rtn_1": sum(3, 3, 30)})
		check(chela.UsageByPurpose, time.Time{}, map[string]chela.UsageSum{"turn": sum(3, 3, 30)})
		same(t, 4*(1-round), sumUsage(t, s, time.UTC, 10))
	}
	ofJobs(t, s, f)
	for range 2 {
		check(chela.UsageByRoutine, time.Time{}, map[string]chela.UsageSum{"rtn_1": sum(3, 3, 30), "rtn_2": sum(2, 14, 0), "": sum(1, 7, 0)})
		sumUsage(t, s, time.UTC, 10)
	}
}

// parts returns sums by their names and times.
func parts(t *testing.T, s *store.Store, by chela.UsageBy, since time.Time, zone *time.Location) map[string]chela.UsageSum {
	t.Helper()
	m := map[string]chela.UsageSum{}
	for _, p := range read(t, s, func(r *store.Read) ([]store.UsagePart, error) { return r.UsageParts(t.Context(), by, since, zone) }) {
		name := p.Name
		if !p.At.IsZero() {
			name += p.At.Format(" 15:04")
		}
		m[name] = m[name].Plus(p.Sum)
	}
	return m
}

func sumUsage(t *testing.T, s *store.Store, zone *time.Location, limit int) (n int) {
	t.Helper()
	write(t, s, func(w *store.Write) (err error) {
		n, err = w.SumUsage(t.Context(), zone, limit)
		return err
	})
	return n
}

// ofJobs adds what a job of a run, a part of it and a job of nobody's took.
func ofJobs(t *testing.T, s *store.Store, f family) {
	t.Helper()
	ctx := t.Context()
	write(t, s, func(w *store.Write) error {
		return w.AddRoutine(ctx, chela.Routine{
			ID: "rtn_2", Name: "two", Agent: "main", Version: 1, CreatedAt: at(0), UpdatedAt: at(0),
			Trigger: chela.Trigger{Kind: chela.TriggerManual}, Action: chela.RoutineAction{Kind: chela.ActionJob, Text: "x"},
		})
	})
	write(t, s, func(w *store.Write) error {
		_, err := w.AddRun(ctx, chela.RoutineRun{ID: "run_2", Routine: "rtn_2", Due: at(0), Key: "k", State: chela.RunPending, Cause: chela.TriggerManual, CreatedAt: at(0)})
		return err
	})
	made, part, other := newJob("made", chela.JobPlain, chela.JobPending), newJob("part", chela.JobPart, chela.JobPending), newJob("other", chela.JobPlain, chela.JobPending)
	made.Run, part.Parent = "run_2", made.ID
	for _, j := range []chela.Job{made, part, other} {
		addJob(t, s, j)
		u := f.newUsage(string(j.ID), chela.TokenUsage{Input: 7})
		u.Job, u.Cost = j.ID, 0
		write(t, s, func(w *store.Write) error { return w.Charge(ctx, u) })
	}
}

func checkUsageMoves(t *testing.T, s *store.Store) {
	ctx := t.Context()
	f := found(t, s, "f")
	row := func(n int, state chela.UsageState) chela.Usage {
		u := f.reserved(fmt.Sprint(n), 5)
		u.Turn, u.State = chela.TurnID(fmt.Sprint("turn_", n)), state
		return u
	}
	mover[chela.UsageState]{
		states: []chela.UsageState{chela.UsageReserved, chela.UsageSettled, chela.UsageReleased, chela.UsageLost, "made up"},
		from:   []chela.UsageState{chela.UsageReserved},
		legal:  chela.UsageState.CanMove,
		add: func(w *store.Write, n int, state chela.UsageState) error {
			u := row(n, state)
			return errors.Join(w.OpenTurn(ctx, f.newTurn(u.Turn, chela.TurnCompleted)), w.Charge(ctx, u))
		},
		move: func(w *store.Write, n int, _, to chela.UsageState) error { return w.Settle(ctx, row(n, to)) },
		state: func(r *store.Read, n int) (chela.UsageState, error) {
			rows, err := r.TurnUsage(ctx, f.newTurn(row(n, "").Turn, ""))
			if err != nil || len(rows) != 1 {
				return "", err
			}
			return rows[0].State, nil
		},
	}.check(t, s)
}

func checkBudgets(t *testing.T, s *store.Store) {
	ctx := t.Context()
	f := found(t, s, "f")
	b := day(100)
	one, two, three := f.reserved("one", 60), f.reserved("two", 40), f.reserved("three", 30)
	count(t, s, b)
	must(t, reserve(t, s, one, claims(b)))
	f.checkLeft(t, s, b, 40)
	must(t, reserve(t, s, two, claims(b)))
	f.checkLeft(t, s, b, 0)

	settle(t, s, one, chela.UsageSettled, 25)
	f.checkLeft(t, s, b, 35)
	one.State = chela.UsageSettled
	refuse(t, s, chela.Conflict, func(w *store.Write) error { return w.Settle(ctx, one) })
	f.checkLeft(t, s, b, 35)
	settle(t, s, two, chela.UsageReleased, 0)
	f.checkLeft(t, s, b, 75)
	must(t, reserve(t, s, three, claims(b)))
	settle(t, s, three, chela.UsageLost, 30)
	f.checkLeft(t, s, b, 45)

	over := f.reserved("over", 45) // an answer may cost more than was thought
	must(t, reserve(t, s, over, claims(b)))
	settle(t, s, over, chela.UsageSettled, 60)
	f.checkLeft(t, s, b, -1)
	want := b
	want.Spent = 115
	same(t, want, read(t, s, func(r *store.Read) (chela.Budget, error) { return r.BudgetOf(ctx, b) }))
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// checkBudgetScopes spends from one budget of each kind, and sees that the
// others of the kind have all left.
func checkBudgetScopes(t *testing.T, s *store.Store) {
	f, other := found(t, s, "f"), found(t, s, "other")
	mine := f.reserved("mine", 10)
	mine.Turn, mine.Job, mine.Routine = f.turn, "job_f", "rtn_f"
	hour := chela.Budget{Limit: chela.LimitActions, Most: 3, Since: at(0), Resets: at(0).Add(time.Hour)}
	later := day(100)
	later.Since, later.Resets = later.Resets, later.Resets.AddDate(0, 0, 1)
	routine := func(key string) chela.Budget {
		b := day(100)
		b.Limit, b.Key = chela.LimitRoutine, key
		return b
	}
	own := []chela.Budget{
		hour, day(100),
		{Limit: chela.LimitSession, Key: string(f.key), Most: 100},
		{Limit: chela.LimitTurn, Key: string(f.turn), Most: 100},
		{Limit: chela.LimitJob, Key: "job_f", Most: 100},
		routine("rtn_f"),
	}
	others := []chela.Budget{
		later,
		{Limit: chela.LimitSession, Key: string(other.key), Most: 100},
		{Limit: chela.LimitTurn, Key: string(other.turn), Most: 100},
		{Limit: chela.LimitJob, Key: "job_other", Most: 100},
		routine("rtn_other"),
	}
	count(t, s, append(own, others...)...)
	must(t, reserve(t, s, mine, claims(own...)))
	must(t, reserve(t, s, other.reserved("zero", 0), claims(others...)))
	for _, b := range own[1:] {
		f.checkLeft(t, s, b, 90)
	}
	settle(t, s, mine, chela.UsageSettled, 4)
	for _, b := range own[1:] {
		f.checkLeft(t, s, b, 96)
		b.Spent = 4
		same(t, b, read(t, s, func(r *store.Read) (chela.Budget, error) { return r.BudgetOf(t.Context(), b) }))
	}
	for _, b := range others {
		f.checkLeft(t, s, b, 100)
	}
	for i, want := range []chela.Kind{"", chela.Exhausted, chela.Exhausted} { // calls are counted, whatever they cost, and by whom
		if err := reserve(t, s, f.reserved(fmt.Sprint("call_", i), 0), claims(hour)); chela.KindOf(err) != want {
			t.Errorf("call %d of the hour: %v, want %q", i+2, err, want)
		}
	}
}

// checkBudgetsAnew counts a budget that others have spent from before it was there.
func checkBudgetsAnew(t *testing.T, s *store.Store) {
	ctx := t.Context()
	f := found(t, s, "f")
	b := day(100)
	spend := func(id string, cost chela.MicroUSD, when time.Time) {
		u := f.newUsage(id, chela.TokenUsage{})
		u.Cost, u.CreatedAt = cost, when
		write(t, s, func(w *store.Write) error { return w.Charge(ctx, u) })
	}
	spend("before", 1, at(-1))
	spend("first", 2, at(0))
	spend("after", 4, b.Resets)
	open := f.reserved("open", 8)
	write(t, s, func(w *store.Write) error { return w.Charge(ctx, open) })
	f.checkLeft(t, s, b, -1) // nobody has counted it
	count(t, s, b)
	f.checkLeft(t, s, b, 90)
	spend("second", 16, at(5))
	f.checkLeft(t, s, b, 74)
	spend("elsewhere", 32, b.Resets)
	f.checkLeft(t, s, b, 74)
	count(t, s, b)
	f.checkLeft(t, s, b, 74)
	settle(t, s, open, chela.UsageSettled, 8)
	f.checkLeft(t, s, b, 74)

	write(t, s, func(w *store.Write) error { return w.ForgetBudgets(ctx, at(0)) })
	f.checkLeft(t, s, b, 74)
	write(t, s, func(w *store.Write) error { return w.ForgetBudgets(ctx, at(1)) })
	f.checkLeft(t, s, b, -1) // nobody has counted it
	count(t, s, b)
	f.checkLeft(t, s, b, 74)
}

func checkBudgetWarnings(t *testing.T, s *store.Store) {
	f := found(t, s, "f")
	b := day(100)
	var warned []int64
	count(t, s, b)
	for i, cost := range []chela.MicroUSD{79, 1, 1, 1} {
		u := f.reserved(fmt.Sprint(i), 5)
		c := claims(b)
		c[0].Warn = 80
		err := s.Write(t.Context(), "storetest", func(w *store.Write) error {
			return w.Reserve(t.Context(), u, c, func(c store.Claim) { warned = append(warned, c.Spent) })
		})
		must(t, err)
		settle(t, s, u, chela.UsageSettled, cost)
	}
	same(t, []int64{80}, warned)
}

func checkReservations(t *testing.T, s *store.Store) {
	f := found(t, s, "f")
	one, two := f.reserved("one", 1), f.reserved("two", 1)
	one.Turn, two.Turn = f.turn, f.turn
	count(t, s, day(100))
	must(t, reserve(t, s, one, claims(day(100))))
	if err := reserve(t, s, two, claims(day(100))); chela.KindOf(err) != chela.Conflict {
		t.Errorf("reserved twice for a turn: %v, want a Conflict", err)
	}
	f.checkLeft(t, s, day(100), 99)
	same(t, []chela.Usage{one}, read(t, s, func(r *store.Read) ([]chela.Usage, error) { return r.Reservations(t.Context(), f.turn) }))
	same(t, nil, read(t, s, func(r *store.Read) ([]chela.Usage, error) { return r.Reservations(t.Context(), "turn_x") }))
	settle(t, s, one, chela.UsageLost, 1)
	must(t, reserve(t, s, two, claims(day(100))))
}

// raceSpenders lets 64 spenders spend until nothing is left. Some claim from a
// budget that all share, some from one of a few, some from both or in another zone,
// and some count theirs anew all the time. Nobody waits for who waits for him.
func raceSpenders(t *testing.T, s *store.Store) {
	ctx := t.Context()
	var families []family
	for i := range 4 {
		families = append(families, found(t, s, fmt.Sprint("f", i)))
	}
	b, shifted, hour := day(500), day(2000), day(200)
	shifted.Since, shifted.Resets = shifted.Since.Add(-time.Hour), shifted.Resets.Add(-time.Hour)
	hour.Limit = chela.LimitActions
	of := func(i int) []chela.Budget {
		own := chela.Budget{Limit: chela.LimitSession, Key: string(families[i%4].key), Most: 200}
		return [][]chela.Budget{{b, own}, {own}, {hour}, {shifted, own}, {hour, b}}[i%5]
	}
	began := time.Now()
	errs := race(64, func(i int) error {
		f, mine := families[i%len(families)], of(i)
		for n := range 12 {
			if n == 0 || i%7 == 0 {
				if err := s.Write(ctx, "storetest", func(w *store.Write) error { return w.CountBudgets(ctx, mine, at(0)) }); err != nil {
					return err
				}
			}
			u := f.reserved(fmt.Sprintf("%d_%d", i, n), 7)
			err := s.Write(ctx, "storetest", func(w *store.Write) error { return w.Reserve(ctx, u, claims(mine...), func(store.Claim) {}) })
			if chela.KindOf(err) == chela.Exhausted {
				return nil
			}
			if err != nil {
				return err
			}
			u.State, u.Cost = chela.UsageSettled, chela.MicroUSD(1+(i+n)%7)
			if (i+n)%5 == 0 {
				u.State, u.Cost = chela.UsageReleased, 0
			}
			if err := s.Write(ctx, "storetest", func(w *store.Write) error { return w.Settle(ctx, u) }); err != nil {
				return err
			}
		}
		return nil
	})
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	t.Logf("it took %s", time.Since(began))
	for _, b := range []chela.Budget{b, shifted, hour} {
		got := read(t, s, func(r *store.Read) (chela.Budget, error) { return r.BudgetOf(ctx, b) })
		if got.Reserved != 0 {
			t.Errorf("%d of %s are reserved", got.Reserved, b.Limit)
		}
		if b.Most = 10_000; b.Limit != chela.LimitActions {
			families[0].checkLeft(t, s, b, b.Most-got.Spent)
		}
	}
}
