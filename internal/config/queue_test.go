package config_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/config"
)

// Queue settings are of the home, and what a channel leaves open is the home's.
func TestQueue(t *testing.T) {
	t.Parallel()
	c := mustLoad(t, `
[queue]
mode = "steer"
debounce_ms = 0
[queue.channels.telegram]
drop = "old"
[queue.channels]
terminal.debounce_ms = 0
`, "CHELA_QUEUE_CAP=7", "CHELA_QUEUE_CHANNELS_TELEGRAM_MODE=interrupt", "CHELA_QUEUE_CHANNELS_HTTP_DEBOUNCE_MS=50")
	want := config.Queue{
		QueueSettings: chela.QueueSettings{Mode: chela.QueueSteer, DebounceMS: -1, Cap: 7, Drop: chela.DropSummarize},
		Channels: map[string]*chela.QueueSettings{
			"telegram": {Mode: chela.QueueInterrupt, Drop: chela.DropOld},
			"terminal": {DebounceMS: -1},
			"http":     {DebounceMS: 50},
		},
	}
	if diff := cmp.Diff(want, c.Queue); diff != "" {
		t.Errorf("settings (-want +got):\n%s", diff)
	}
	shown := map[string]string{
		"queue.cap":                           "7 (env CHELA_QUEUE_CAP)",
		"queue.debounce_ms":                   "0 (file config.toml:4)",
		"queue.drop":                          "summarize (default)",
		"queue.channels.telegram.drop":        "old (file config.toml:6)",
		"queue.channels.telegram.mode":        "interrupt (env CHELA_QUEUE_CHANNELS_TELEGRAM_MODE)",
		"queue.channels.http.debounce_ms":     "50 (env CHELA_QUEUE_CHANNELS_HTTP_DEBOUNCE_MS)",
		"queue.channels.terminal.debounce_ms": "0 (file config.toml:8)",
	}
	var keys []string
	for key := range shown {
		keys = append(keys, key)
	}
	if diff := cmp.Diff(shown, sources(t, c, keys...)); diff != "" {
		t.Errorf("sources (-want +got):\n%s", diff)
	}
}
