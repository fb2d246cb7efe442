package storetest

import (
	"fmt"
	"slices"
	"testing"

	"chela"
	"chela/internal/store"
)

func checkTurnRows(t *testing.T, s *store.Store) {
	ctx := t.Context()
	f := found(t, s, "f")
	whole := full[chela.Turn]()
	whole.Session, whole.Thread, whole.Activity = f.key, f.thread, "" // which is not stored
	bare := chela.Turn{ID: "turn_bare", Session: f.key, Thread: f.thread, State: chela.TurnFailed}
	empty := f.newTurn("turn_empty", chela.TurnProcessing)
	empty.Failure = &chela.Failure{}
	for _, want := range []chela.Turn{whole, bare, empty} {
		write(t, s, func(w *store.Write) error { return w.OpenTurn(ctx, want) })
		same(t, want, read(t, s, func(r *store.Read) (chela.Turn, error) { return r.Turn(ctx, want.ID) }))
		refuse(t, s, chela.Conflict, func(w *store.Write) error { return w.OpenTurn(ctx, want) })
	}
	miss(t, s, func(r *store.Read) (chela.Turn, error) { return r.Turn(ctx, "turn_nothing") })

	after := full[chela.Turn]()
	after.ID, after.State = empty.ID, chela.TurnLimited
	write(t, s, func(w *store.Write) error { return w.MoveTurn(ctx, after, chela.TurnProcessing) })
	want := empty
	want.State, want.Overrides, want.Crashes, want.Steps = after.State, after.Overrides, after.Crashes, after.Steps
	want.Failure, want.FinishedAt = after.Failure, after.FinishedAt
	same(t, want, read(t, s, func(r *store.Read) (chela.Turn, error) { return r.Turn(ctx, empty.ID) }))
}

func checkTurnLists(t *testing.T, s *store.Store) {
	ctx := t.Context()
	f, other := found(t, s, "f"), found(t, s, "other")
	second := f
	second.thread = "thr_second"
	open := func(g family, id chela.TurnID, state chela.TurnState, n int) chela.TurnID {
		turn := g.newTurn(id, state)
		turn.CreatedAt = at(n)
		write(t, s, func(w *store.Write) error { return w.OpenTurn(ctx, turn) })
		return id
	}
	write(t, s, func(w *store.Write) error { return w.CreateThread(ctx, f.newThread(second.thread)) })
	third := open(f, "turn_a", chela.TurnAwaiting, 3)
	first := open(f, "turn_c", chela.TurnLimited, 1)
	again := open(f, "turn_b", chela.TurnInterrupted, 1)
	live := open(second, "turn_d", chela.TurnProcessing, 2)
	far := open(other, "turn_e", chela.TurnProcessing, 4)

	id := func(t chela.Turn) chela.TurnID { return t.ID }
	turns := read(t, s, func(r *store.Read) ([]chela.Turn, error) { return r.Turns(ctx, f.thread) })
	same(t, []chela.TurnID{f.turn, again, first, third}, ids(turns, id))
	mine := read(t, s, func(r *store.Read) ([]chela.Turn, error) { return r.LiveTurns(ctx, f.key) })
	same(t, []chela.TurnID{live, third}, ids(mine, id))
	every := read(t, s, func(r *store.Read) ([]chela.Turn, error) { return r.LiveTurns(ctx, "") })
	same(t, []chela.TurnID{live, third, far}, ids(every, id))

	ready := func(key chela.SessionKey) (turn chela.Turn, ok bool) {
		read(t, s, func(r *store.Read) (_ bool, err error) {
			turn, ok, err = r.ReadyTurn(ctx, key)
			return ok, err
		})
		return turn, ok
	}
	later := f
	later.thread = "thr_later"
	write(t, s, func(w *store.Write) error { return w.CreateThread(ctx, f.newThread(later.thread)) })
	open(later, "turn_0", chela.TurnProcessing, 5)
	oldest, ok := ready(f.key)
	same(t, live, oldest.ID)
	same(t, true, ok)
	_, ok = ready("nobody")
	same(t, false, ok)

	rival := f.newTurn("turn_rival", chela.TurnProcessing)
	refuse(t, s, chela.Conflict, func(w *store.Write) error { return w.OpenTurn(ctx, rival) })
}

var turnStates = []chela.TurnState{
	chela.TurnProcessing, chela.TurnAwaiting, chela.TurnCompleted, chela.TurnFailed, chela.TurnInterrupted, chela.TurnLimited,
}

func checkTurnMoves(t *testing.T, s *store.Store) {
	ctx := t.Context()
	f := found(t, s, "f")
	id := func(n int) chela.TurnID { return chela.TurnID(fmt.Sprint("turn_", n)) }
	mover[chela.TurnState]{
		states: turnStates,
		from:   turnStates,
		legal: func(from, to chela.TurnState) bool {
			return from.CanMove(to) || from == to && !from.Ended() // steps are counted without a move
		},
		add: func(w *store.Write, n int, state chela.TurnState) error {
			g := f // each in a thread of its own, which has one live turn
			g.thread = chela.ThreadID(fmt.Sprint("thr_", n))
			if err := w.CreateThread(ctx, f.newThread(g.thread)); err != nil {
				return err
			}
			return w.OpenTurn(ctx, g.newTurn(id(n), state))
		},
		move: func(w *store.Write, n int, from, to chela.TurnState) error {
			return w.MoveTurn(ctx, chela.Turn{ID: id(n), State: to}, from)
		},
		state: func(r *store.Read, n int) (chela.TurnState, error) {
			turn, err := r.Turn(ctx, id(n))
			return turn.State, err
		},
	}.check(t, s)
}

func checkRequestStop(t *testing.T, s *store.Store) {
	ctx := t.Context()
	f := found(t, s, "f")
	stopped := func(id chela.TurnID) bool {
		return read(t, s, func(r *store.Read) (chela.Turn, error) { return r.Turn(ctx, id) }).Stop
	}
	for i, state := range turnStates {
		turn := f.newTurn(chela.TurnID(fmt.Sprint("turn_", i)), state)
		write(t, s, func(w *store.Write) error { return w.OpenTurn(ctx, turn) })
		stop := func(w *store.Write) error { return w.RequestStop(ctx, turn.ID) }
		if state.Ended() {
			refuse(t, s, chela.Conflict, stop)
			same(t, false, stopped(turn.ID))
			continue
		}
		same(t, false, stopped(turn.ID))
		same(t, nil, read(t, s, func(r *store.Read) ([]chela.TurnID, error) { return r.StoppingTurns(ctx) }))
		write(t, s, stop)
		write(t, s, stop) // twice does no harm
		same(t, true, stopped(turn.ID))
		same(t, []chela.TurnID{turn.ID}, read(t, s, func(r *store.Read) ([]chela.TurnID, error) { return r.StoppingTurns(ctx) }))

		// What the turn stores of itself does not take the wish back.
		turn.State = chela.TurnFailed
		write(t, s, func(w *store.Write) error { return w.MoveTurn(ctx, turn, state) })
		same(t, true, stopped(turn.ID))
	}
	refuse(t, s, chela.Conflict, func(w *store.Write) error { return w.RequestStop(ctx, "turn_nothing") })
}

// checkFollowedTurns sees that each move of a followed turn leaves work, and of another
// turn those that people may have to be told of.
func checkFollowedTurns(t *testing.T, s *store.Store) {
	f := found(t, s, "f")
	open := func(id chela.TurnID, thread chela.ThreadID, origin chela.Origin) chela.Turn {
		turn := f.newTurn(id, chela.TurnProcessing)
		turn.Thread, turn.Origin = thread, origin
		write(t, s, func(w *store.Write) error {
			if err := w.CreateThread(t.Context(), f.newThread(thread)); err != nil {
				return err
			}
			return w.OpenTurn(t.Context(), turn)
		})
		return turn
	}
	move := func(turn chela.Turn, to chela.TurnState) chela.Turn {
		from := turn.State
		turn.State = to
		write(t, s, func(w *store.Write) error { return w.MoveTurn(t.Context(), turn, from) })
		return turn
	}
	left := func() (keys []string) {
		for _, k := range claimAs(t, s, store.WorkClaim{Node: "node_a", Kind: chela.WorkFollow, Now: at(100), Until: at(200), Limit: 10}) {
			keys = append(keys, k.Key)
			k.State = chela.WorkDone
			write(t, s, func(w *store.Write) error { return w.MoveWork(t.Context(), k) })
		}
		slices.Sort(keys)
		return keys
	}
	alone := open("turn_alone", "thr_alone", chela.Origin{ReplyBy: chela.ReplyByOutbox})
	alone = move(alone, chela.TurnAwaiting)
	same(t, []string{"turn_alone/awaiting_approval"}, left())
	alone = move(alone, chela.TurnProcessing)
	move(alone, chela.TurnCompleted)
	same(t, []string(nil), left())
	move(open("turn_limited", "thr_limited", chela.Origin{}), chela.TurnLimited)
	same(t, []string{"turn_limited/limited"}, left())
	followed := open("turn_followed", "thr_followed", chela.Origin{Channel: chela.ChannelJob, ReplyBy: chela.ReplyByFollow})
	followed = move(followed, chela.TurnProcessing)
	followed = move(followed, chela.TurnAwaiting)
	same(t, []string{"turn_followed/awaiting_approval", "turn_followed/processing"}, left())
	followed = move(followed, chela.TurnProcessing)
	left()
	for range 2 { // which is no move, but those who follow want to know
		write(t, s, func(w *store.Write) error { return w.CountCrash(t.Context(), followed) })
		followed = read(t, s, func(r *store.Read) (chela.Turn, error) { return r.Turn(t.Context(), followed.ID) })
	}
	same(t, 2, followed.Crashes)
	same(t, []string{"turn_followed/processing"}, left())
	followed = move(followed, chela.TurnAwaiting) // once more
	followed = move(followed, chela.TurnProcessing)
	move(followed, chela.TurnFailed)
	same(t, []string{"turn_followed/awaiting_approval", "turn_followed/failed", "turn_followed/processing"}, left())
}
