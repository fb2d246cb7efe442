package work_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	"chela"
	"chela/internal/background/work"
	"chela/internal/platform/local"
	"chela/internal/store"
)

// where tells a child process which database to work on.
const where = "CHELA_WORK_TEST"

// jobs are what a child has to do: each leaves an effect, which is a piece of work
// that nobody performs.
var jobs = []chela.Work{
	{Kind: "keyed", Key: "a"},
	{Kind: "keyed", Key: "b"},
	{Kind: "keyed", Key: "c"},
	{Kind: "written", Key: "a"},
	{Kind: "written", Key: "b"},
	{Kind: "written", Key: "c"},
}

// child does all that is to be done on a database, and ends.
func child(place string) int {
	cfg := store.Config{Path: place}
	if strings.HasPrefix(place, "postgres:") {
		cfg = store.Config{URL: place}
	}
	ctx := context.Background()
	s, err := store.Open(ctx, cfg)
	if err == nil {
		err = finish(ctx, s, chela.NodeID(fmt.Sprint("node_", os.Getpid())))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "child:", err)
		return 1
	}
	return 0
}

// finish performs all jobs, to whose other performers this process is the only one
// alive.
func finish(ctx context.Context, s *store.Store, node chela.NodeID) error {
	e := work.New(s, work.Config{
		Process: local.Process{Node: node, IDs: ids(), Now: time.Now, Log: slog.New(slog.DiscardHandler), Peers: others(node)},
		Random:  func() float64 { return 1 },
	})
	e.Stay()
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	var failed error
	running.Go(func() { failed = e.Run(ctx, kinds(s, e)...) })
	defer running.Wait()
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		e.Settle(ctx)
		left, err := open(ctx, s)
		if len(left) == 0 || err != nil || failed != nil {
			return err
		}
		<-tick.C // until the next attempt of those
	}
}

// kinds performs jobs in the two ways in which their effect happens once: "keyed"
// writes it under a key, "written" together with the end of the work.
func kinds(s *store.Store, e *work.Engine) []work.Kind {
	keyed := func(ctx context.Context, k chela.Work) (work.Outcome, error) {
		return work.Outcome{}, s.Write(ctx, "test.keyed", func(w *store.Write) error {
			_, err := e.Add(ctx, w, chela.Work{Kind: "effect", Key: k.Kind + " " + k.Key})
			return err
		})
	}
	written := func(ctx context.Context, k chela.Work) (work.Outcome, error) {
		return work.Outcome{Written: true}, s.Write(ctx, "test.written", func(w *store.Write) error {
			k.State = chela.WorkDone
			if _, err := e.Add(ctx, w, chela.Work{Kind: "effect", Key: fmt.Sprint(k.Kind, " ", k.Key, " ", k.Token)}); err != nil {
				return err
			}
			return w.MoveWork(ctx, k)
		})
	}
	return []work.Kind{{Name: "keyed", Parallel: 2, Handle: keyed}, {Name: "written", Handle: written}}
}

// open returns the jobs that are not done.
func open(ctx context.Context, s *store.Store) (left []chela.Work, err error) {
	err = s.Read(ctx, func(r *store.Read) error {
		left = nil
		for _, j := range jobs {
			k, is, err := r.LiveWork(ctx, j.Kind, j.Key)
			if err != nil {
				return err
			}
			if is {
				left = append(left, k)
			}
		}
		return nil
	})
	return left, err
}

// others are all processes but one, which are dead.
type others chela.NodeID

func (o others) Dead(n chela.NodeID) bool { return n != chela.NodeID(o) }
func (others) Alive(chela.NodeID) bool    { return false }
