package cost_test

import (
	"bufio"
	"context"
	"crypto/rand"
	"flag"
	"fmt"
	"io"
	"iter"
	"log/slog"
	mathrand "math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"chela"
	"chela/internal/engine/cost"
	"chela/internal/platform/datadir"
	"chela/internal/platform/local"
	"chela/internal/platform/pgtest"
	"chela/internal/store"
)

var (
	spendCalls = flag.Int("spend.calls", 300, "how many calls TestSpendingTogether makes; the whole test has 10,000")
	spender    = flag.Bool("spender", false, "be one of the processes of TestSpendingTogether")
	spendPath  = flag.String("spender.path", "", "its SQLite database")
	spendURL   = flag.String("spender.url", "", "its PostgreSQL database")
	spendRun   = flag.String("spender.run", "", "the folder in which processes show that they live")
)

func TestMain(m *testing.M) {
	flag.Parse()
	if *spender {
		os.Exit(spend())
	}
	goleak.VerifyTestMain(m)
}

const (
	spenders   = 3
	goroutines = 67                   // of each
	spendLimit = chela.MicroUSD(1000) // for each call that is made; a call costs 1,500 on average, and 3,000 at most
)

// limit is the limit of the day.
func limit() chela.MicroUSD { return spendLimit * chela.MicroUSD(*spendCalls) }

// spend spends until the process is killed. It writes a byte for each call that
// has ended.
func spend() int {
	ctx := context.Background()
	s, err := store.Open(ctx, store.Config{Path: *spendPath, URL: *spendURL})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	ids := chela.NewIDs(time.Now, rand.Reader)
	node := ids.Node()
	here, err := datadir.Appear(*spendRun, node)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	l := spendingLedger(s, node, here)
	p := l.Meter(bills{}, "p/cheap")
	var all sync.WaitGroup
	for range goroutines {
		all.Go(func() {
			for {
				if _, err := ask(ctx, p, chela.Request{Payer: chela.Payer{Purpose: "spend"}, Tokens: 1000, MaxTokens: 190}); err != nil &&
					chela.KindOf(err) != chela.Exhausted && chela.KindOf(err) != chela.Unavailable {
					fmt.Fprintln(os.Stderr, err)
				}
				os.Stdout.Write([]byte{'.'})
			}
		})
	}
	all.Wait() // never
	return 0
}

// spendingLedger is the ledger of one process.
func spendingLedger(s *store.Store, node chela.NodeID, peers *datadir.Presence) *cost.Ledger {
	return cost.New(s, cost.Config{
		Process: local.Process{Node: node, IDs: chela.NewIDs(time.Now, rand.Reader), Now: func() time.Time { return noon }, Log: slog.New(slog.DiscardHandler), Emit: func(chela.Event) {}, Peers: peers},
		Zone:    time.UTC,
		Limits:  cost.Limits{Day: limit()},
		Wait:    func(context.Context, time.Duration) error { return nil },
		Models:  priced{output: 190}, Count: func(*chela.Request) int { return 1000 },
	})
}

// bills is a model whose answers cost anything up to what is reserved. Some
// break off, and some are refused.
type bills struct{}

func (bills) Stream(_ context.Context, req *chela.Request) iter.Seq2[chela.Chunk, error] {
	return func(yield func(chela.Chunk, error) bool) {
		refused := &chela.ProviderError{Kind: chela.Unavailable, Unpaid: true, Msg: "no"}
		switch n := mathrand.IntN(20); {
		case n == 0:
			yield(chela.Chunk{}, refused)
		case !yield(chela.Chunk{Text: "Hi"}, nil):
		case n == 1:
			yield(chela.Chunk{}, refused)
		default:
			u := chela.TokenUsage{Input: mathrand.Int64N(1101), Output: mathrand.Int64N(int64(req.MaxTokens) + 1)}
			yield(chela.Chunk{Finish: &chela.Finish{Text: "Hi", Usage: u}}, nil)
		}
	}
}

// TestSpendingTogether lets 200 goroutines of three processes spend against one
// limit, and kills the processes all the time. Whatever happens, no more is
// spent than may be, and in the end nothing is reserved.
func TestSpendingTogether(t *testing.T) {
	t.Parallel()
	for engine, url := range map[string]func() string{
		"sqlite": func() string { return "" }, "postgres": func() string { return pgtest.URL(t) },
	} {
		t.Run(engine, func(t *testing.T) {
			dir := t.TempDir()
			cfg := store.Config{URL: url()}
			if cfg.URL == "" {
				cfg.Path = filepath.Join(dir, "chela.db")
			}
			s, err := store.Open(t.Context(), cfg)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			kills := spendTogether(t, cfg, dir)
			checkSpent(t, s, dir)
			t.Logf("%d calls, %d processes killed", *spendCalls, kills)
		})
	}
}

// spendTogether runs the processes until the calls are made, and returns how
// many were killed.
func spendTogether(t *testing.T, cfg store.Config, dir string) (kills int) {
	t.Helper()
	var mu sync.Mutex
	calls := 0 // guarded by mu
	enough := func() bool {
		mu.Lock()
		defer mu.Unlock()
		return calls >= *spendCalls
	}
	var all sync.WaitGroup
	killed := make([]int, spenders)
	for i := range spenders {
		all.Go(func() {
			for !enough() {
				killed[i]++
				life := mathrand.IntN(1 + *spendCalls/12) // calls
				oneLife(t, cfg, dir, func() bool {
					mu.Lock()
					defer mu.Unlock()
					calls++
					life--
					return life > 0 && calls < *spendCalls
				})
			}
		})
	}
	all.Wait()
	for _, n := range killed {
		kills += n
	}
	return kills
}

// oneLife runs a process until called says that it is enough, and kills it.
func oneLife(t *testing.T, cfg store.Config, dir string, called func() bool) {
	cmd := exec.Command(os.Args[0], "-spender", "-spend.calls", fmt.Sprint(*spendCalls), "-spender.path", cfg.Path, "-spender.url", cfg.URL, "-spender.run", dir)
	cmd.Stderr = t.Output()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Error(err)
		return
	}
	if err := cmd.Start(); err != nil {
		t.Error(err)
		return
	}
	for r := bufio.NewReader(out); ; {
		if _, err := r.ReadByte(); err != nil || !called() {
			break
		}
	}
	_ = cmd.Process.Kill()
	_, _ = io.Copy(io.Discard, out)
	_ = cmd.Wait() // it was killed
}

// checkSpent looks at what is in the ledger in the end.
func checkSpent(t *testing.T, s *store.Store, dir string) {
	t.Helper()
	here, err := datadir.Appear(dir, "node_last")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := here.Leave(); err != nil {
			t.Error(err)
		}
	})
	l := spendingLedger(s, "node_last", here)
	l.Tend(t.Context())
	open, err := store.Find(t.Context(), s, func(r *store.Read) ([]chela.Usage, error) { return r.Reservations(t.Context(), "") })
	if err != nil || len(open) > 0 {
		t.Errorf("%d reservations are left: %v", len(open), err)
	}
	budgets, err := l.Budgets(t.Context(), "")
	if err != nil || len(budgets) != 1 {
		t.Fatalf("%+v, %v", budgets, err)
	}
	b := budgets[0]
	if b.Spent > b.Most || b.Spent < b.Most*8/10 || b.Reserved != 0 {
		t.Errorf("%d of %d are spent, %d reserved", b.Spent, b.Most, b.Reserved)
	}
}
