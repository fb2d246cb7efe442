package provider_test

import (
	"errors"
	"testing"
	"time"

	"chela"
	"chela/internal/model/provider"
)

func TestFallback(t *testing.T) {
	t.Parallel()
	ok := end{texts: []string{"a", "b"}}
	unsupported := failed(chela.ProviderError{Kind: chela.Unsupported, Status: 400})
	cut := failed(chela.ProviderError{Kind: chela.Unavailable, Status: 200, Cut: true})
	late := end{texts: []string{"a"}, err: cut.err}
	type test struct {
		name  string
		ends  []end
		plain bool
		want  end
		asked []bool // whether each request was plain
	}
	tests := []test{
		{"streams", []end{ok}, false, ok, []bool{false}},
		{"cannot stream", []end{unsupported, ok}, false, ok, []bool{false, true}},
		{"cut at once", []end{cut, ok}, false, ok, []bool{false, true}},
		{"unreadable", []end{failed(chela.ProviderError{Kind: chela.Unavailable, Status: 200}), ok}, false, ok, []bool{false, true}},
		{"gateway gives up", []end{failed(chela.ProviderError{Kind: chela.Unavailable, Status: 504}), ok}, false, ok, []bool{false, true}},
		{"both fail", []end{unsupported, cut}, false, cut, []bool{false, true}},
		{"cut later", []end{late, ok}, false, late, []bool{false}},
		{"plain already", []end{cut, ok}, true, cut, []bool{true}},
	}
	for _, status := range []int{0, 500, 503, 529} {
		e := failed(chela.ProviderError{Kind: chela.Unavailable, Status: status})
		tests = append(tests, test{"would not help", []end{e, ok}, false, e, []bool{false}})
	}
	wait := failed(chela.ProviderError{Kind: chela.Unavailable, Status: 502, After: time.Second})
	denied := failed(chela.ProviderError{Kind: chela.Denied, Status: 401})
	foreign := end{err: errors.New("not of a provider")}
	for _, e := range []end{wait, denied, foreign} {
		tests = append(tests, test{"not curable", []end{e, ok}, false, e, []bool{false}})
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := &fake{ends: tt.ends}
			req := &chela.Request{Model: "m", Plain: tt.plain}
			texts, err := drain(t, provider.Fallback(f).Stream(t.Context(), req))
			checkEnd(t, texts, err, tt.want)
			checkDiff(t, tt.asked, f.plain)
			if req.Plain != tt.plain {
				t.Error("the request was changed")
			}
		})
	}
}

func TestFallbackStopsWhenLeft(t *testing.T) {
	t.Parallel()
	f := &fake{ends: []end{{texts: []string{"a", "b"}}}}
	for chunk, err := range provider.Fallback(f).Stream(t.Context(), &chela.Request{}) {
		if err != nil {
			t.Error(err)
		}
		checkDiff(t, chela.Chunk{Text: "a"}, chunk)
		break
	}
	checkDiff(t, []bool{false}, f.plain)
}
