package lane_test

import (
	"context"
	"testing"
	"testing/synctest"

	"chela"
	"chela/internal/engine/lane"
	"chela/internal/engine/turn"
)

func TestEnter(t *testing.T) {
	t.Parallel()
	p := lane.NewPlaces(map[chela.Class]int{chela.ClassJob: 2}, 1)
	if got := p.Limit(chela.ClassJob); got != 3 {
		t.Errorf("%d turns may run and wait, want 3", got)
	}
	var leaves []func()
	for n := range 4 {
		leave, room := p.Enter(chela.ClassJob)
		if room != (n < 3) {
			t.Errorf("turn %d finds room: %t", n, room)
		}
		leaves = append(leaves, leave)
	}
	leaves[3]() // was refused
	leaves[0]()
	if _, room := p.Enter(chela.ClassJob); !room {
		t.Error("no room for the place of one that left")
	}
	if _, room := p.Enter(chela.ClassMain); !room {
		t.Error("another class has no room")
	}
}

func TestTake(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name  string
		alone bool
		want  int // turns that have a place
	}{
		{"as many as the class has places", false, 4},
		{"one alone", true, 1},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p := lane.NewPlaces(nil, 0)
				frees := make(chan func(), 6)
				for range cap(frees) {
					go func() { frees <- p.Take(t.Context(), chela.ClassMain, c.alone, &turn.Handle{}) }()
				}
				synctest.Wait()
				if got := len(frees); got != c.want {
					t.Errorf("%d turns have a place, want %d", got, c.want)
				}
				for range cap(frees) { // the others follow
					(<-frees)()
				}
			})
		})
	}
}

// A turn that is stopped or cut off goes on without a place, and gives none back.
func TestTakeInVain(t *testing.T) {
	t.Parallel()
	p := lane.NewPlaces(map[chela.Class]int{chela.ClassMain: 1}, 0)
	free := p.Take(t.Context(), chela.ClassMain, false, &turn.Handle{})
	stopped := &turn.Handle{}
	stopped.Stop()
	p.Take(t.Context(), chela.ClassMain, false, stopped)()
	cut, cancel := context.WithCancel(t.Context())
	cancel()
	p.Take(cut, chela.ClassMain, false, &turn.Handle{})()
	free()
	p.Take(t.Context(), chela.ClassMain, true, &turn.Handle{})()
}
