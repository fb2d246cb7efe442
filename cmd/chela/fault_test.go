package main_test

import (
	"fmt"
	"testing"
)

// faults are what a statement of the store may meet: trouble of no kind, a lock
// (on PostgreSQL a transaction that must be repeated) and a full disk.
var faults = []string{"error", "busy", "full"}

// TestFaultTable lets the n-th statement of every process of every story fail,
// for every n until none fails any more. Whoever asked is told by an answer or
// an error, says it again in the second case, and the record comes to the same
// as ever, with no effect twice.
func TestFaultTable(t *testing.T) {
	t.Parallel()
	for engine := range engines {
		for i, s := range stories {
			if s.drive != nil {
				continue // nobody there says a thing again
			}
			t.Run(engine+"/"+s.name, func(t *testing.T) {
				t.Parallel()
				s.faultTable(t, engine, 3*i)
			})
		}
	}
}

// faultTable fails statements of one story: each with every fault for the whole
// table, otherwise one of every 7 of the first story on SQLite with one of them,
// and one of every 61 of the others. Shift makes those differ.
func (s story) faultTable(t *testing.T, engine string, shift int) {
	p, _, want := s.play(t, engine, "")
	step := 61
	switch {
	case *wholeTable:
		step, shift = 1, 0
	case engine == "sqlite" && s.newHome:
		step, shift = 7, 0
	}
	for process := range p.next {
		met := 0
		for n := 1 + shift%step; s.failAt(t, engine, process, n, want); n += step {
			met++
		}
		if most := p.passed(process, statement); met == 0 && most > step {
			t.Errorf("no fault happened in process %d, which runs %d statements", process, most)
		}
	}
}

// failAt tells the story with the n-th statement of a process failing, and
// reports whether the process came so far.
func (s story) failAt(t *testing.T, engine string, process, n int, want record) (came bool) {
	t.Helper()
	some := faults
	if !*wholeTable {
		some = faults[n%len(faults):][:1]
	}
	for _, fault := range some {
		at := kill{process, statement, n, fault}
		t.Run(at.String(), func(t *testing.T) {
			p, l, got := s.play(t, engine, "", at)
			s.judge(t, p, l, got, want)
			came = p.met(process)
		})
	}
	return came
}

// TestLostCommits cuts the connection to PostgreSQL off at the n-th commit, for
// every n until there is none: before the server saw it, and after it did what
// it was told, of which chela hears nothing.
func TestLostCommits(t *testing.T) {
	t.Parallel()
	for i, s := range stories {
		if s.drive != nil {
			continue
		}
		for _, arrives := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/arrives=%v", s.name, arrives), func(t *testing.T) {
				t.Parallel()
				s.lostCommits(t, arrives, i)
			})
		}
	}
}

func (s story) lostCommits(t *testing.T, arrives bool, shift int) {
	_, _, want := s.play(t, "postgres", "")
	step := 11
	switch {
	case *wholeTable:
		step, shift = 1, 0
	case s.newHome:
		step = 3
	}
	met := 0
	for n, came := 1+shift%step, true; came; n += step {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			l := newLedger(t)
			p := s.player(t, l, "postgres")
			w := newWire(t, p.url, n, arrives)
			p.url, p.lost = w.url, w.cut
			got := s.tell(p, l)
			s.judge(t, p, l, got, want)
			came = w.cut()
		})
		if came {
			met++
		}
	}
	if met == 0 && step == 1 {
		t.Error("the connection was lost at no commit")
	}
}

// TestFaultsAreSeen plants a defect under which chela does again what it does
// not know to have happened, and breaks off what follows an effect.
func TestFaultsAreSeen(t *testing.T) {
	t.Parallel()
	for engine := range engines {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			s := storyNamed(t, "post")
			p, _, _ := s.play(t, engine, "")
			at := firstOf(t, p.hits(), "turn.result.begin")
			at.action = "error"
			for mutant, want := range map[string]int{"": 1, "blind-replay": 2} {
				if _, l, _ := s.play(t, engine, mutant, at); l.count("POST /effect") != want {
					t.Errorf("with the defect %q there are %d effects, want %d", mutant, l.count("POST /effect"), want)
				}
			}
		})
	}
}
