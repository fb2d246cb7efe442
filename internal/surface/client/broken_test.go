package client_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/surface/client"
)

// Wherever the stream breaks, and however often, durable events are shown once
// each and in order.
func TestAskGoesOnAfterABrokenStream(t *testing.T) {
	t.Parallel()
	for cut := 1; cut <= 6; cut++ {
		t.Run(fmt.Sprint("after ", cut), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				d := newDaemon(t)
				d.cutAfter = cut
				a := ask(t, d.dial(t))
				want := []string{"turn.started"}
				for i := range 5 {
					text := fmt.Sprint("entry ", i)
					d.emit(delta("a hint"))
					d.emit(chela.Event{Kind: chela.EventEntryAppended, Turn: "turn_1", Text: text})
					want = append(want, "entry.appended "+text)
				}
				a.waits(t)
				d.move("turn_1", chela.TurnCompleted, chela.EventTurnFinished)
				<-a.over
				a.shown = slices.DeleteFunc(a.shown, func(s string) bool { return s == "text.delta a hint" })
				a.ends(t, chela.TurnCompleted, append(want, "turn.finished")...)
				if streams := 1 + len(want)/cut; len(d.seen) < streams {
					t.Errorf("%d streams, want %d at least", len(d.seen), streams)
				}
			})
		})
	}
}

func TestAskGoesOnAfterARestart(t *testing.T) {
	t.Parallel()
	for _, away := range []time.Duration{0, time.Second, 25 * time.Second} {
		t.Run(away.String(), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				d := newDaemon(t)
				a := ask(t, d.dial(t))
				d.end()
				a.waits(t)
				<-time.After(away)
				d.emit(chela.Event{Kind: chela.EventToolFinished, Turn: "turn_1", Text: "unseen"})
				d.start()
				<-time.After(5 * time.Second)
				d.emit(delta("seen"))
				d.move("turn_1", chela.TurnCompleted, chela.EventTurnFinished)
				a.ends(t, chela.TurnCompleted, "turn.started", "tool.finished unseen", "text.delta seen", "turn.finished")
			})
		})
	}
}

// The turn ended while the daemon was away: what was missed is shown first.
func TestAskShowsWhatItMissedOfAnEndedTurn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDaemon(t)
		a := ask(t, d.dial(t))
		d.end()
		d.emit(chela.Event{Kind: chela.EventEntryAppended, Turn: "turn_1"})
		d.move("turn_1", chela.TurnCompleted, chela.EventTurnFinished)
		d.start()
		a.ends(t, chela.TurnCompleted, "turn.started", "entry.appended", "turn.finished")
	})
}

func TestAskGoesOnWhenItsMessageGotNoAnswer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDaemon(t)
		d.lose = 2
		a := ask(t, d.dial(t))
		<-time.After(time.Second)
		d.move("turn_1", chela.TurnCompleted, chela.EventTurnFinished)
		a.ends(t, chela.TurnCompleted, "turn.finished") // what happened before the first answer is not shown
		if len(d.said) != 3 || d.said[0].MessageID != d.said[1].MessageID || d.said[1].MessageID != d.said[2].MessageID {
			t.Errorf("sent %v, want one message three times", d.said)
		}
	})
}

func TestAskWaitsForItsTurnThroughARestart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDaemon(t)
		d.busy = true
		a := ask(t, d.dial(t))
		d.end()
		<-time.After(10 * time.Second)
		d.start()
		<-time.After(10 * time.Second)
		d.open("turn_1")
		d.move("turn_1", chela.TurnCompleted, chela.EventTurnFinished)
		a.ends(t, chela.TurnCompleted, "turn.started", "turn.finished")
	})
}

// A stream that tells nothing, or says that events are missing, costs time, not
// the answer.
func TestAskNeedsNoEvents(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(*daemon){
		"a mute stream":            func(d *daemon) { d.mute = true },
		"a stream without cursors": func(d *daemon) { d.noCursor, d.cutAfter = true, 1 },
		"events that are not kept": func(d *daemon) { d.emit(chela.Event{Kind: chela.EventResync}) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				d := newDaemon(t)
				a := ask(t, d.dial(t))
				d.end()
				spoil(d)
				d.start()
				<-time.After(3 * time.Second)
				d.move("turn_1", chela.TurnCompleted, chela.EventTurnFinished)
				<-a.over
				if a.err != nil || a.turn.State != chela.TurnCompleted {
					t.Errorf("%v and %v", a.turn, a.err)
				}
			})
		})
	}
}

func TestADaemonThatDoesNotComeBack(t *testing.T) {
	t.Parallel()
	const goesOn = "the daemon does not answer any more; the turn goes on with the daemon's next start; see chela turns show turn_1 then"
	for _, tt := range []struct {
		name    string
		prepare func(*daemon)
		leave   func(*daemon)
		within  time.Duration
		text    string
	}{
		{"ended", nil, (*daemon).end, 30 * time.Second, goesOn},
		{"ended while the message waits", func(d *daemon) { d.busy = true }, (*daemon).end, 30 * time.Second, "its turn begins with the daemon's next start"},
		{"stopped", nil, func(d *daemon) { d.change(func() { d.silent = true }) }, 45 * time.Second, goesOn},
		{"lost every answer", func(d *daemon) { d.lose = 1000 }, func(*daemon) {}, 30 * time.Second, "may be stored or not; send it again with --message-id in_"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				d := newDaemon(t)
				if tt.prepare != nil {
					tt.prepare(d)
				}
				a := ask(t, d.dial(t))
				began := time.Now()
				tt.leave(d)
				a.fails(t, chela.Unavailable, tt.text)
				if took := time.Since(began); took < 25*time.Second || took > tt.within {
					t.Errorf("gave up after %v, want 25 s to %v", took, tt.within)
				}
			})
		})
	}
}

func TestDial(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, tt := range []struct {
		name string
		make func(t *testing.T, path string)
		kind chela.Kind
		text string
	}{
		{"nothing", func(*testing.T, string) {}, chela.NotFound, "no daemon runs on this home; run chela serve"},
		{"left_behind", leaveSocket, chela.NotFound, "no daemon runs"},
		{"no_socket", writeFile, chela.NotFound, "no daemon runs"},
		{"below_a_file/x", func(t *testing.T, path string) { writeFile(t, filepath.Dir(path)) }, chela.NotFound, "no daemon runs"},
		{strings.Repeat("a_long_path", 10), func(*testing.T, string) {}, chela.NotFound, "no daemon runs"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(dir, tt.name)
			tt.make(t, path)
			c, err := client.Dial(t.Context(), path, testIDs())
			if c != nil || chela.KindOf(err) != tt.kind || !strings.Contains(chela.MessageOf(err), tt.text) {
				t.Errorf("%v and %q of kind %s, want %q of kind %s", c, chela.MessageOf(err), chela.KindOf(err), tt.text, tt.kind)
			}
		})
	}
}

func writeFile(t *testing.T, path string) {
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

// leaveSocket leaves a socket as a process does that was killed.
func leaveSocket(t *testing.T, path string) {
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestDialOfASilentDaemon(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDaemon(t)
		d.silent = true
		began := time.Now()
		_, err := client.DialBy(t.Context(), testIDs(), d.connect)
		if chela.KindOf(err) != chela.Unavailable || !strings.Contains(chela.MessageOf(err), "does not answer; let it go on") {
			t.Errorf("error %v", err)
		}
		if diff := cmp.Diff(2*time.Second, time.Since(began)); diff != "" {
			t.Errorf("time (-want +got):\n%s", diff)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err = client.DialBy(ctx, testIDs(), d.connect); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("with a context that ends: %v", err)
		}
	})
}
