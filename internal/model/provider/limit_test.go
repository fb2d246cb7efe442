package provider_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"

	"chela"
	"chela/internal/model/provider"
)

// TestLimit passes answers on up to the limits, and ends them there.
func TestLimit(t *testing.T) {
	t.Parallel()
	const perToken, free = 32, 2048
	piece := strings.Repeat("x", 32*1024)
	calls := make([]chela.CallSpec, 129)
	tests := []struct {
		name   string
		tokens int
		texts  []string
		calls  int
		want   int // chunks that are passed on
		stop   chela.StopReason
	}{
		{"short", 0, []string{"a", "b"}, 2, 2, chela.StopEnd},
		{"as long as may be", 0, fill(128, piece), 0, 128, chela.StopLength},
		{"shorter by a byte", 0, append(fill(127, piece), piece[1:]), 1, 128, chela.StopEnd},
		{"too long", 0, fill(140, piece), 1, 128, chela.StopLength},
		{"too long for its tokens", 1024, fill(10, piece), 1, perToken * (free + 1024) / len(piece), chela.StopLength},
		{"too many chunks", 0, fill(200_001, unseen), 1, 200_000, chela.StopLength},
		{"too many chunks for its tokens", 2, fill(9000, unseen), 1, 4 * (free + 2), chela.StopLength},
		{"too many calls", 0, []string{"a"}, 129, 1, chela.StopLength},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := &fake{ends: []end{{texts: tt.texts}}, finish: chela.Finish{Calls: calls[:tt.calls]}}
			texts, finish, err := drained(t, provider.Limit(f).Stream(t.Context(), &chela.Request{MaxTokens: tt.tokens}))
			if err != nil {
				t.Fatal(err)
			}
			if len(texts) != tt.want || finish.Stop != tt.stop {
				t.Errorf("%d chunks were passed on, and the answer stopped by %q; want %d and %q", len(texts), finish.Stop, tt.want, tt.stop)
			}
			if said := strings.ReplaceAll(strings.Join(texts, ""), unseen, ""); said != finish.Text {
				t.Errorf("the text has %d bytes, and %d were passed on", len(finish.Text), len(said))
			}
			calls := tt.calls
			if tt.stop == chela.StopLength {
				calls = 0
			}
			if tt.calls > 128 {
				calls = 128
			}
			if len(finish.Calls) != calls {
				t.Errorf("the answer has %d calls, want %d", len(finish.Calls), calls)
			}
		})
	}
}

// fill returns a text n times.
func fill(n int, text string) []string {
	texts := make([]string, n)
	for i := range texts {
		texts[i] = text
	}
	return texts
}

// served answers every request with a body.
type served struct {
	kind string
	body io.Reader
}

func (s served) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {s.kind}}, Body: io.NopCloser(s.body)}, nil
}

// again is a text without end.
type again struct {
	text string
	at   int
}

func (a *again) Read(p []byte) (n int, err error) {
	for n < len(p) {
		took := copy(p[n:], a.text[a.at:])
		n, a.at = n+took, (a.at+took)%len(a.text)
	}
	return n, nil
}

// TestLimitBody reads bodies of each kind up to their limits.
func TestLimitBody(t *testing.T) {
	t.Parallel()
	const mib, slack = 1 << 20, 1 << 16
	event := "data: {}\n\n"
	tests := []struct {
		name, kind string
		body       io.Reader
		want       int // bytes, about; where it is shorter than the body, reading fails
		fails      bool
	}{
		{"short", "text/event-stream", strings.NewReader(event), len(event), false},
		{"events", "text/event-stream", &again{text: strings.Repeat(event, 1024)}, 200_000 * len(event), true},
		{"large events", "text/event-stream; charset=utf-8", &again{text: strings.Repeat("x", 4096) + "\n\n"}, 128 * mib, true},
		{"events with carriage returns", "text/event-stream", &again{text: strings.Repeat("x", 4096) + "\r\n\r\n"}, 128 * mib, true},
		{"one event of many lines", "text/event-stream", &again{text: strings.Repeat("data: x\n", 1024)}, 8 * mib, true},
		{"one line", "text/event-stream", &again{text: strings.Repeat("x", 4096)}, 8 * mib, true},
		{"of no kind", "", &again{text: strings.Repeat("x", 4096)}, 8 * mib, true},
		{"lines", "application/x-ndjson", &again{text: strings.Repeat("{}\n", 1024)}, 3 * 200_000, true},
		{"one line of many", "application/x-ndjson", &again{text: strings.Repeat("x", 4096)}, 8 * mib, true},
		{"one piece", "application/json", &again{text: strings.Repeat("x\n\n", 1024)}, 16 * mib, true},
		{"frames", "application/vnd.amazon.eventstream", &again{text: strings.Repeat("x", 4096)}, 64 * mib, true},
		{"separators in two reads", "text/event-stream", iotest.OneByteReader(bytes.NewReader(bytes.Repeat([]byte("x\n\n"), 3*mib))), 3 * 200_000, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://127.0.0.1", nil)
			if err != nil {
				t.Fatal(err)
			}
			res, err := provider.LimitBody(served{tt.kind, tt.body}).RoundTrip(req)
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			got, err := io.Copy(io.Discard, res.Body)
			if (err != nil) != tt.fails || int(got) < tt.want || int(got) > tt.want+slack {
				t.Errorf("read %d bytes (%v), want %d", got, err, tt.want)
			}
		})
	}
}

// TestLimitOfBodyEndsAnswers shows what an answer comes to whose body is not read
// to its end.
func TestLimitOfBodyEndsAnswers(t *testing.T) {
	t.Parallel()
	res, err := provider.LimitBody(served{"application/json", &again{text: strings.Repeat("x", 4096)}}).RoundTrip(&http.Request{})
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	_, tooLong := io.Copy(io.Discard, res.Body)
	cut := chela.ProviderError{Provider: "fake", Kind: chela.Unavailable, Retryable: true, Cut: true, Err: tooLong}
	texts, finish, err := drained(t, provider.Limit(&fake{ends: []end{failed(cut, "a", "b")}}).Stream(t.Context(), &chela.Request{}))
	if err != nil || finish.Text != "ab" || finish.Stop != chela.StopLength || len(texts) != 2 {
		t.Errorf("got %q, %+v, %v", texts, finish, err)
	}
	_, err = drain(t, provider.Limit(&fake{ends: []end{failed(cut)}}).Stream(t.Context(), &chela.Request{}))
	if failed, is := errors.AsType[*chela.ProviderError](err); !is || failed.Retryable || failed.Cut || failed.Provider != "fake" {
		t.Errorf("got %#v", err)
	}
}
