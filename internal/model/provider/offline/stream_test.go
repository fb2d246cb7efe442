package offline_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/model/provider/offline"
	"chela/internal/model/provider/providertest"
)

func TestContract(t *testing.T) {
	providertest.Run(t, providertest.Harness{
		New:        func(*testing.T, providertest.Case) chela.Provider { return offline.New(offline.Config{}) },
		Model:      offline.Model,
		Unscripted: true,
	})
}

func TestChunksAreWords(t *testing.T) {
	t.Parallel()
	req := request(user("run `greet`"), chela.Message{Role: chela.RoleAssistant, Calls: []chela.CallSpec{{Ref: "a", Tool: "shell", Args: []byte(`{"command":"greet"}`)}}},
		chela.Message{Role: chela.RoleTool, Ref: "a", Text: "hello to you"})
	want := []string{"greet: ", "hello ", "to ", "you."}
	for _, plain := range []bool{false, true} {
		req.Plain = plain
		var got []string
		for c, err := range offline.New(offline.Config{}).Stream(t.Context(), req) {
			if err != nil {
				t.Fatal(err)
			}
			if c.Finish == nil {
				got = append(got, c.Text)
			}
		}
		if plain {
			want = []string{strings.Join(want, "")}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("plain %t: chunks (-want +got)\n%s", plain, diff)
		}
	}
}

func TestCancelledMidStream(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	n := 0
	var last error
	for _, err := range offline.New(offline.Config{}).Stream(ctx, request(user("hi"))) {
		n++
		last = err
		cancel()
	}
	if n != 2 || !errors.Is(last, context.Canceled) {
		t.Errorf("got %d chunks and %v, want a chunk and a cancelled context", n-1, last)
	}
}

func TestNobodySpoke(t *testing.T) {
	t.Parallel()
	for _, err := range offline.New(offline.Config{Name: "mine"}).Stream(t.Context(), request()) {
		if chela.KindOf(err) != chela.Invalid || err.Error() != "mine: the request has no user message" {
			t.Errorf("got %v, want Invalid", err)
		}
	}
}

func TestUsage(t *testing.T) {
	t.Parallel()
	req := request(user(strings.Repeat("x", 4000)), chela.Message{Role: chela.RoleAssistant, Text: "?"}, user("hi there"))
	req.System = "12345678"
	f := finish(t, req)
	want := chela.TokenUsage{Input: 4, Output: int64(len(f.Text)+3) / 4}
	if diff := cmp.Diff(want, f.Usage); diff != "" {
		t.Errorf("usage (-want +got)\n%s", diff)
	}
}

// history returns a conversation of n turns, the newest of which is open.
func history(n int) []chela.Message {
	var messages []chela.Message
	for i := range n {
		messages = append(messages, user(fmt.Sprintf("what is %d+1", i)), chela.Message{Role: chela.RoleAssistant, Text: strings.Repeat("words ", 50)})
	}
	return append(messages, user("what is 1+1"))
}

// BenchmarkStream shows that the length of the history does not matter.
func BenchmarkStream(b *testing.B) {
	for _, turns := range []int{1, 100, 10_000} {
		b.Run(fmt.Sprint(turns), func(b *testing.B) {
			p := offline.New(offline.Config{})
			req := request(history(turns)...)
			b.ReportAllocs()
			for b.Loop() {
				for _, err := range p.Stream(b.Context(), req) {
					if err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}

// BenchmarkLongText shows what reading a message costs at worst.
func BenchmarkLongText(b *testing.B) {
	for name, text := range map[string]string{
		"100 kB without sense":   strings.Repeat("lorem ipsum ", 8_000),
		"100 kB to write":        "write " + strings.Repeat("lorem ipsum ", 8_000) + "to a.txt",
		"4 kB that could be cut": strings.Repeat(strings.Repeat("lorem ", 50)+"and ", 12),
	} {
		b.Run(name, func(b *testing.B) {
			p := offline.New(offline.Config{})
			req := request(user(text))
			for b.Loop() {
				for _, err := range p.Stream(b.Context(), req) {
					if err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}

// FuzzStream demands of any text that the turn it opens ends, and that the same
// request has the same answer.
func FuzzStream(f *testing.F) {
	for _, text := range []string{
		"What time is it in Tokyo and what is 17*23?", "read a.txt, then write it to b.txt", "copy a to b.txt and then, finally, run `x`.",
		`query a[0] in {"a": [1, "}"]} and say "it`, "replace 'a' with \"b\" in x.go\n- ls\n", "```go\nx``` and '' “ ”", "15% of √2 x 3!",
		"what's in the docs folder; and post {} to https://a.de/x, thanks", "\xff{[\x00 then it.", strings.Repeat("a and ", 400),
	} {
		f.Add(text, "     1\tone\n[there is more]", false)
	}
	f.Add("what is 1+1", "denied: no", true)
	f.Fuzz(func(t *testing.T, text, result string, failed bool) {
		run := func(chela.CallSpec) string {
			if failed {
				return "!" + result
			}
			return result
		}
		steps, answer := converse(t, request(user(text)), run)
		again, answerAgain := converse(t, request(user(text)), run)
		if diff := cmp.Diff(steps, again); diff != "" || answer != answerAgain {
			t.Errorf("the same conversation went otherwise: %q, %q\n%s", answer, answerAgain, diff)
		}
	})
}
