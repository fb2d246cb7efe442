package agents_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/metrics"
	"strings"
	"sync"
	"testing"
	"time"

	"chela"
	"chela/internal/model/provider/bedrock/bedrocktest"
	"chela/internal/model/provider/providertest"
)

// endless are answers without end, in every part that an answer has.
var endless = []struct {
	name   string
	answer providertest.Answer
	tokens int // of output, as the request limits it
	plain  bool
	text   bool // the answer is the text that arrived, cut off
}{
	{name: "text", answer: providertest.Answer{Text: []string{word}}, text: true},
	{name: "text beyond the output limit", answer: providertest.Answer{Text: []string{word}}, tokens: 2000, text: true},
	{name: "reasoning", answer: providertest.Answer{Thinking: word}},
	{name: "arguments", answer: providertest.Answer{Calls: []providertest.Call{{Ref: "r", Tool: "t", Args: `{"x":"` + word}}}, tokens: 2000},
	{name: "calls", answer: providertest.Answer{Calls: []providertest.Call{{Ref: "r1", Tool: "t"}, {Ref: "r2", Tool: "t"}}}, tokens: 1},
	{name: "event", answer: providertest.Answer{Fault: providertest.FaultEndlessEvent}},
	{name: "one piece", answer: providertest.Answer{Fault: providertest.FaultEndlessEvent}, plain: true},
}

// word is 4 KiB of text.
var word = strings.Repeat("no end in sight ", 256)

// An answer without end is ended as cut off, or as an error after which the
// model is not asked again, and memory does not grow with it. Tests beside it
// would count as memory.
func TestEndlessAnswers(t *testing.T) {
	for _, p := range protocols {
		for _, tt := range endless {
			t.Run(p.name+"/"+tt.name, func(t *testing.T) {
				if p.name == "bedrock" && tt.name == "event" {
					t.Skip("its events tell their length: see TestLongEvent there")
				}
				tt.answer.Fault = cmp.Or(tt.answer.Fault, providertest.FaultEndless)
				c := providertest.NewCase(tt.name, tt.answer)
				used := limited(t, p, c)
				m := watchMemory()
				finish, err := last(used, &chela.Request{
					Model: p.model, Messages: []chela.Message{{Role: chela.RoleUser, Text: "hello"}},
					Plain: tt.plain, Thinking: chela.ThinkingLow, MaxTokens: tt.tokens,
				})
				const most = 64 << 20
				if grew := m.most(); grew > most {
					t.Errorf("memory grew by %d MiB", grew>>20)
				}
				checkCut(t, finish, err, tt.text)
				if n := len(c.Received()); n != 1 {
					t.Errorf("the model was asked %d times", n)
				}
			})
		}
	}
}

// checkCut fails the test unless an answer was ended as cut off, with its text if
// that is wanted.
func checkCut(t *testing.T, finish *chela.Finish, err error, text bool) {
	t.Helper()
	failed, is := errors.AsType[*chela.ProviderError](err)
	switch {
	case finish == nil && (text || !is || failed.Retryable):
		t.Errorf("got the error %v", err)
	case finish == nil:
	case finish.Stop != chela.StopLength || len(finish.Calls) > 0 || text != strings.HasPrefix(finish.Text, word):
		t.Errorf("the answer has %d bytes of text and %d calls, and stopped by %q", len(finish.Text), len(finish.Calls), finish.Stop)
	}
}

// limited returns the provider of a protocol as the program puts it together.
func limited(t *testing.T, p protocol, c providertest.Case) chela.Provider {
	t.Helper()
	h := &home{env: []string{"KEY=" + providertest.Key}}
	h.text = fmt.Sprintf("[providers.x]\nkind = %q\nbase_url = %q\napi_key = \"env:KEY\"\n", cmp.Or(p.kind, p.name), p.start(t, c))
	if p.name == "bedrock" {
		h.text += fmt.Sprintf("region = %q\n", bedrocktest.Region)
	}
	used, _, err := h.open(t, "").Serve("x/" + p.model)
	if err != nil {
		t.Fatal(err)
	}
	return used
}

// A providerMemory watches how much of the heap is in use.
type providerMemory struct {
	begin, peak uint64
	stop        chan struct{}
	watching    sync.WaitGroup
}

// watchMemory looks at the heap again and again until most is called.
func watchMemory() *providerMemory {
	runtime.GC()
	m := &providerMemory{begin: live(), stop: make(chan struct{})}
	m.watching.Go(func() {
		again := time.NewTicker(time.Millisecond)
		defer again.Stop()
		for {
			m.peak = max(m.peak, live())
			select {
			case <-m.stop:
				return
			case <-again.C:
			}
		}
	})
	return m
}

// most returns by how much the heap grew at most.
func (m *providerMemory) most() uint64 {
	close(m.stop)
	m.watching.Wait()
	return max(m.peak, m.begin) - m.begin
}

// live returns how many bytes of the heap the last collection found in use.
func live() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// last returns how a stream ends.
func last(p chela.Provider, req *chela.Request) (finish *chela.Finish, err error) {
	for chunk, err := range p.Stream(context.Background(), req) {
		if err != nil {
			return nil, err
		}
		finish = chunk.Finish
	}
	return finish, nil
}
