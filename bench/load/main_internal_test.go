package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"chela/bench/load/drive"
)

// setup serves the fake model by its command and returns its address.
func setup(t *testing.T) string {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	out, to := io.Pipe()
	ended := make(chan int, 1)
	go func() { ended <- run(ctx, []string{"fake"}, streams{to, io.Discard}) }()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		if code := <-ended; code != 0 {
			t.Errorf("the fake model ended with %d", code)
		}
	})
	return strings.TrimSpace(line)
}

func TestRunAgainstFake(t *testing.T) {
	t.Parallel()
	url := setup(t)
	var out, progress strings.Builder
	args := []string{"run", "-url", url, "-model", "load", "-sessions", "4", "-turns", "20", "-json"}
	if code := run(t.Context(), args, streams{&out, &progress}); code != 0 {
		t.Fatalf("code %d: %s", code, &progress)
	}
	var r drive.Report
	if err := json.Unmarshal([]byte(out.String()), &r); err != nil || r.Turns != 20 || r.Failed() != 0 {
		t.Errorf("error %v, report %s", err, &out)
	}
	for _, tt := range []struct {
		name string
		args []string
		want []string // of the output
	}{
		{"run", []string{"run", "-sessions", "2", "-turns", "10", "-stream", "-disk", t.TempDir()}, []string{"turns a second", "its first text"}},
		{"overhead", []string{"overhead", "-turns", "10", "-fake", url}, []string{"through the server", "added by the median"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var out, progress strings.Builder
			code := run(t.Context(), append(tt.args, "-url", url), streams{&out, &progress})
			for _, want := range tt.want {
				if code != 0 || !strings.Contains(out.String(), want) {
					t.Errorf("code %d, %q not in:\n%s%s", code, want, &out, &progress)
				}
			}
		})
	}
}

func TestExitCodes(t *testing.T) {
	t.Parallel()
	ended, end := context.WithCancel(t.Context())
	end()
	for _, tt := range []struct {
		name string
		ctx  context.Context
		args []string
		want int
		said string
	}{
		{"no command", t.Context(), nil, 2, "use: load"},
		{"unknown command", t.Context(), []string{"fly"}, 2, "use: load"},
		{"help", t.Context(), []string{"run", "-h"}, 0, "-sessions"},
		{"unknown flag", t.Context(), []string{"run", "-fast"}, 2, "-fast"},
		{"an argument", t.Context(), []string{"sse", "fast"}, 2, `"fast" is not a flag`},
		{"unknown mode", t.Context(), []string{"fake", "-mode", "x"}, 2, "use text or tool"},
		{"no end", t.Context(), []string{"run", "-turns", "0"}, 2, "give a number of turns"},
		{"nobody there", t.Context(), []string{"run", "-url", "http://127.0.0.1:1/v1"}, 1, "refused"},
		{"no program", t.Context(), []string{"all", "-chela", "none"}, 1, "make build"},
		{"no routines", t.Context(), []string{"routines", "-url", "http://127.0.0.1:1/v1"}, 1, "refused"},
		{"a soak of nothing", t.Context(), []string{"soak"}, 2, "a soak needs a process"},
		{"interrupted", ended, []string{"run", "-url", "http://127.0.0.1:1/v1"}, 130, "interrupted"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var said strings.Builder
			if code := run(tt.ctx, tt.args, streams{io.Discard, &said}); code != tt.want || !strings.Contains(said.String(), tt.said) {
				t.Errorf("code %d, want %d; said: %s", code, tt.want, &said)
			}
		})
	}
}

func TestCut(t *testing.T) {
	t.Parallel()
	if got := cut(" a\n b "); got != "a b" {
		t.Errorf("%q", got)
	}
	if got := cut("x" + strings.Repeat("é", 150)); got != "x"+strings.Repeat("é", 99)+"…" {
		t.Errorf("%q", got)
	}
}
