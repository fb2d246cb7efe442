package app

import (
	"encoding/json"
	"flag"
	"fmt"
	"strings"
	"testing"
	"time"
)

var costTurns = flag.Int("labels.turns", 1, "how many turns of 50 calls are played")

// TestTurnOf50Calls plays turns with 50 calls each, one at a time, in a private prompt
// with pages in it. The share of labels is read off a profile of it:
//
//	go test ./internal/app -run TestTurnOf50Calls -labels.turns=40 -cpuprofile cpu.out
//	go tool pprof -top -cum -focus='turn.\(\*Runner\).Run' app.test cpu.out
func TestTurnOf50Calls(t *testing.T) {
	var tasks []errand
	for i := range *costTurns {
		s := ownerStep{kind: "say", text: fmt.Sprintf("compare the pages of round %d.", i)}
		for n := range 10 {
			for _, c := range []order{
				{"http", json.RawMessage(fmt.Sprintf(`{"url": "https://en.wikipedia.org/wiki/Page_%d_%d"}`, i, n))},
				{"read_file", json.RawMessage(`{"path": "long.txt"}`)},
				{"memory_read", json.RawMessage(`{"path": "USER.md"}`)},
				{"write_file", json.RawMessage(fmt.Sprintf(`{"path": "out/%d.txt", "content": "x"}`, n))},
				{"shell", json.RawMessage(`{"command": "ls -l"}`)},
			} {
				s.calls = append(s.calls, []order{c})
			}
		}
		tasks = append(tasks, errand{name: fmt.Sprint(i), steps: []ownerStep{s}, files: [][2]string{{"long.txt", strings.Repeat("a line of a file\n", 400)}}})
	}
	h := newOwnerHome(t, tasks)
	h.runs = true
	began := time.Now()
	calls, asked := 0, 0
	for i, task := range tasks {
		n := h.perform(sessionOfTask(i), task)
		calls, asked = calls+n.calls, asked+n.labelled
	}
	t.Logf("%d calls in %s, %d of them asked about", calls, time.Since(began).Round(time.Millisecond), asked)
	if calls != 50**costTurns {
		t.Errorf("%d calls, want 50 in each turn", calls)
	}
}
