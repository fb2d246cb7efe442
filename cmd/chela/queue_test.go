package main_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"chela"
	"chela/internal/api"
)

// A situation is what messages meet in a session. It says them in the mode of
// the crowd.
type situation struct {
	name string
	play func(c *crowd)
	want [6]string // outcomes by mode, in the order of queueModes
}

var queueModes = [6]chela.QueueMode{
	chela.QueueCollect, chela.QueueFollowup, chela.QueueSteer, chela.QueueSteerBacklog, chela.QueuePlain, chela.QueueInterrupt,
}

var situations = []situation{
	{"idle", idle, [6]string{"one", "one", "one", "one", "one", "one"}},
	{"a tool runs", working, [6]string{"work | one+two", "work | one | two", "work+one+two", "work+one+two", "work | one | two", "work! | one+two"}},
	{"by the settings of the session", bySession, [6]string{"work | one+two", "work | one | two", "work+one+two", "work+one+two", "work | one | two", "work! | one+two"}},
	{"the model speaks", speaking, [6]string{"talk | one+two", "talk | one | two", "talk+one+two", "talk+one+two", "talk | one | two", "talk! | one+two"}},
	{"a person is asked", asking, [6]string{"ask | one+two", "ask | one | two", "ask+one+two", "ask+one+two", "ask | one | two", "ask! | one+two"}},
	{"a result is waited for", offering, [6]string{"offer! | one", "offer! | one", "offer! | one", "offer! | one", "offer! | one", "offer! | one"}},
	{"another thread", elsewhere, [6]string{"work / one+two", "work / one | two", "work / one+two", "work / one | two", "work / one | two", "work! / one+two"}},
	{"another model", otherModel, [6]string{"work | one | two", "work | one | two", "work+one | two", "work+one | two", "work | one | two", "work! | two | one"}},
	{"the debounce runs", debounced, [6]string{"work | one+two", "work | one | two", "work+one | two", "work+one | two", "work | one | two", "work | one+two"}},
	{"too many, old ones go", tooMany(chela.DropOld, 2), [6]string{
		"work | three+four | after", "work | three | four | after", "work+three+four | after", "work+three+four | after", "work | one | two | after",
		"work! | three+four | after",
	}},
	{"too many, old ones are summarized", tooMany(chela.DropSummarize, 2), [6]string{
		"work | ~three+four | after", "work | ~three | four | after", "work+three+four | ~after", "work+three+four | ~after", "work | one | two | after",
		"work! | ~three+four | after",
	}},
	{"too many, new ones are refused", tooMany(chela.DropNew, 0), [6]string{
		"work | one+two | after", "work | one | two | after", "work+one+two | after", "work+one+two | after", "work | one | two | after",
		"work | one+two | after",
	}},
}

// TestQueueModes plays every mode in every situation on one daemon. Nothing that
// was accepted is lost in any.
func TestQueueModes(t *testing.T) {
	t.Parallel()
	d, g := busyDaemon(t)
	for _, s := range situations {
		for i, mode := range queueModes {
			t.Run(s.name+"/"+string(mode), func(t *testing.T) {
				t.Parallel()
				here := *d
				here.t = t
				name := strings.NewReplacer(" ", "-", ",", "").Replace(s.name)
				c := &crowd{daemon: &here, gates: g, mode: mode, key: chela.SessionKey("agent:main:dm:" + name + "-" + string(mode))}
				s.play(c)
				c.rest()
				if got := c.outcome(); got != s.want[i] {
					t.Errorf("it came to %q, want %q", got, s.want[i])
				}
			})
		}
	}
}

func idle(c *crowd) { c.follow("one") }

func working(c *crowd) {
	c.work()
	c.follow("one", "two")
	c.release()
}

// bySession leaves it to the settings of the session how messages wait.
func bySession(c *crowd) {
	c.work()
	c.patch(c.mode)
	if c.mode == chela.QueueInterrupt {
		c.say("one", chela.QueueCollect)
	} else {
		c.say("one", "")
	}
	c.say("two", "")
	c.release()
}

// patch sets the queue mode of the session.
func (c *crowd) patch(mode chela.QueueMode) {
	c.t.Helper()
	r := c.request(c.t.Context(), http.MethodPatch, "/api/sessions/"+string(c.key), api.SettingsPatch{QueueMode: &mode})
	if status, err := c.send(r, nil); err != nil || status != http.StatusOK {
		c.t.Fatalf("the settings got %d, %v", status, err)
	}
}

func speaking(c *crowd) {
	c.first("talk")
	c.follow("one", "two")
}

func asking(c *crowd) {
	turn := c.first("ask")
	var asked []chela.Approval
	c.until("a person is asked", func() bool {
		var got api.Turn
		status, err := c.get("/api/turns/"+string(turn), &got)
		asked = got.Approvals
		return err == nil && status == http.StatusOK && len(asked) == 1
	})
	c.follow("one", "two")
	if c.mode == chela.QueueInterrupt {
		return
	}
	r := c.request(c.t.Context(), http.MethodPost, "/api/approvals/"+string(asked[0].ID), api.Answer{Answer: chela.AnswerOnce})
	if status, err := c.send(r, nil); err != nil || status != http.StatusOK {
		c.t.Fatalf("the answer got %d, %v", status, err)
	}
}

// offering lets the turn wait for its caller, who then says something else.
func offering(c *crowd) {
	tool := map[string]any{"type": "function", "function": map[string]any{"name": "theirs", "parameters": map[string]any{"type": "object"}}}
	r := c.request(c.t.Context(), http.MethodPost, "/v1/chat/completions", map[string]any{
		"model": "chela", "messages": []any{map[string]any{"role": "user", "content": "offer"}}, "tools": []any{tool},
	})
	r.Header.Set(api.SessionHeader, string(c.key))
	if status, err := c.send(r, nil); err != nil || status != http.StatusOK {
		c.t.Fatalf("the offer got %d, %v", status, err)
	}
	c.follow("one")
}

// elsewhere says things in a new thread while a turn runs in the old one.
func elsewhere(c *crowd) {
	c.work()
	if status, err := c.send(c.request(c.t.Context(), http.MethodPost, "/api/sessions/"+string(c.key)+"/reset", nil), nil); err != nil || status != http.StatusOK {
		c.t.Fatalf("the reset got %d, %v", status, err)
	}
	c.follow("one", "two")
	c.release()
}

// otherModel asks for another model with the second message.
func otherModel(c *crowd) {
	c.work()
	mode := c.mode
	if mode == chela.QueueInterrupt {
		mode = chela.QueueCollect
	}
	c.say("one", mode)
	c.base.Model = "offline/rules"
	c.say("two", c.mode)
	c.release()
}

// debounced says the second thing after the turn, while what waits is let be.
func debounced(c *crowd) {
	c.base.DebounceMS = 600
	turn := c.work()
	mode := c.mode
	if mode == chela.QueueInterrupt {
		mode = chela.QueueCollect
	}
	c.say("one", mode)
	c.release()
	c.turn(turn)
	c.say("two", c.mode)
}

// tooMany says more than may wait. So many of the first ones are dropped, but for
// those of mode queue, which are refused instead.
func tooMany(how chela.QueueDrop, dropped int) func(c *crowd) {
	return func(c *crowd) {
		turn := c.work()
		c.base.Cap, c.base.Drop = 2, how
		want := 2 + dropped
		if c.mode == chela.QueuePlain {
			want = 2
		}
		if got := c.follow("one", "two", "three", "four"); got != want {
			c.t.Errorf("%d messages were accepted, want %d", got, want)
		}
		if how != chela.DropNew || c.mode != chela.QueueInterrupt {
			c.rested(turn)
		} else {
			c.release()
		}
		c.rest()
		c.say("after", chela.QueueCollect)
	}
}

// rested lets a turn that may be interrupted end.
func (c *crowd) rested(turn chela.TurnID) {
	c.t.Helper()
	c.release()
	c.turn(turn)
}

// TestInterruptStopsAShell interrupts a command that has long to go.
func TestInterruptStopsAShell(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "sleep.yaml")
	const scenario = `
past_end: echo
turns:
  - when: /^sleep/
    steps: [{calls: [{tool: shell, args: {command: "touch begun; sleep 60; touch ended"}}]}]
`
	if err := os.WriteFile(path, []byte(scenario), 0o600); err != nil {
		t.Fatal(err)
	}
	d := newDaemon(t, "", "CHELA_MODEL=script/"+path)
	d.allow("shell")
	d.begin()
	turn := d.say(api.Message{Text: "sleep"}).Turn
	d.until("the command runs", func() bool {
		_, err := os.Stat(filepath.Join(d.home, "workspace", "main", "begun"))
		return err == nil
	})
	began := time.Now()
	d.say(api.Message{Text: "wake up", Mode: chela.QueueInterrupt})
	if got := d.turn(turn); got.State != chela.TurnInterrupted {
		t.Errorf("the turn is %s", got.State)
	}
	if took := time.Since(began); took > time.Second {
		t.Errorf("it took %s to stop, want at most a second", took)
	}
	d.settle()
	rec := d.record(mainKey)
	if last := rec.Transcript[len(rec.Transcript)-1]; last != "assistant: wake up" {
		t.Errorf("the session ends with %q", last)
	}
	d.stop()
}
