package worker_test

import (
	"testing"

	"chela/internal/tool/worker"
)

func TestIsWorker(t *testing.T) {
	t.Parallel()
	tests := []struct {
		args []string
		want bool
	}{
		{append([]string{"chela"}, worker.Args()...), true},
		{append([]string{""}, worker.Args()...), true},
		{append([]string{"chela"}, worker.FilterArgs("true")...), true},
		{append([]string{"chela"}, worker.FilterArgs()...), false},
		{[]string{"chela", "worker"}, false},
		{[]string{"chela", "worker", "exec", "x"}, false},
		{[]string{"chela", "ask", "worker", "exec"}, false},
		{worker.Args(), false},
		{nil, false},
	}
	for _, tt := range tests {
		if got := worker.IsWorker(tt.args); got != tt.want {
			t.Errorf("IsWorker(%q) = %v, want %v", tt.args, got, tt.want)
		}
	}
}
