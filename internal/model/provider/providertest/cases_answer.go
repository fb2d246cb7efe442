package providertest

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"chela"
)

// answers are the clauses about what a model says.
func answers() []clause {
	usage := chela.TokenUsage{Input: 100, Output: 50, CacheRead: 30, CacheWrite: 20, Reasoning: 10}
	huge := strings.Repeat("0123456789abcde\n", 1<<16) // 1 MiB
	return []clause{
		{Case: Case{Name: "text", Answers: []Answer{{Text: []string{"Hello", ", ", "world."}}}}, check: checkText},
		{Case: Case{Name: "empty answer", Answers: []Answer{{}}}, scripted: true, check: checkEmpty},
		{Case: Case{Name: "thinking", Answers: []Answer{{Thinking: "Let me see.", Text: []string{"Yes."}}}}, scripted: true, check: checkThinking},
		{Case: Case{Name: "usage totals", Answers: []Answer{{Text: []string{"ok"}, Usage: usage}}}, scripted: true, check: checkUsage},
		{Case: Case{Name: "odd unicode", Answers: []Answer{{Text: Pieces(odd, 3)}}}, check: checkOdd},
		{Case: Case{Name: "odd unicode sent", Answers: []Answer{{Echo: true}}}, check: checkOddSent},
		{Case: Case{Name: "huge answer", Answers: []Answer{{Text: Pieces(huge, 4096)}}}, scripted: true, check: checkHuge},
		{Case: Case{Name: "boundaries inside characters", Answers: []Answer{{Text: Pieces(odd, 2), Calls: []Call{{"r1", "clock", `{"zone":"Łódź"}`}}, Split: 1}}}, scripted: true, check: checkSplit},
		{Case: Case{Name: "plain", Answers: []Answer{{Thinking: "Hm.", Text: []string{"one ", "two"}, Calls: []Call{{"r1", "clock", `{"zone":"UTC"}`}}, Usage: usage}}}, check: checkPlain},
		{Case: Case{Name: "concurrent use", Answers: []Answer{{Echo: true}}}, check: checkConcurrent},
		{Case: Case{Name: "length stop", Answers: []Answer{{Text: []string{"It is"}, Calls: []Call{{"r1", "clock", `{"zo`}}, Stop: chela.StopLength}}}, scripted: true, check: checkLength},
		{Case: Case{Name: "refusal stop", Answers: []Answer{{Text: []string{"No."}, Stop: chela.StopRefusal}}}, scripted: true, check: checkRefusal},
	}
}

// Texts that have gone wrong somewhere: joined emoji, right to left, combining
// marks, a byte order mark, line separators that are not newlines, NUL, and
// what SSE and JSON give a meaning.
const odd = "👩‍👩‍👧‍👦 שלום \u202eabc\u202c e\u0301 \ufeff\u2028\u2029 \x00 \r\n\r\n data: [DONE]\n\nevent: error\n\n{\"a\":\"\\ud83d\"} 𝄞 end"

// Pieces cuts s into pieces of n runes; the last one may be shorter.
func Pieces(s string, n int) []string {
	var pieces []string
	runes := []rune(s)
	for len(runes) > n {
		pieces = append(pieces, string(runes[:n]))
		runes = runes[n:]
	}
	return append(pieces, string(runes))
}

func checkText(r *run) {
	req := r.request(say("hello"))
	f := r.finish(req)
	r.want(f.Text, "Hello, world.")
	r.want(f.Stop, chela.StopEnd)
	if got, ok := r.sent(); ok {
		r.want(got.System, req.System)
		r.want(got.Texts, []string{"hello"})
		r.want(got.Plain, false)
	}
}

func checkEmpty(r *run) {
	out := r.stream(r.request(say("hello")))
	if out.err != nil || out.chunks != 0 {
		r.Fatalf("empty answer: %d chunks, error %v", out.chunks, out.err)
	}
	r.want(out.finish.Text, "")
	r.want(len(out.finish.Calls), 0)
	r.want(out.finish.Stop, chela.StopEnd)
}

func checkThinking(r *run) {
	req := r.request(say("is it?"))
	req.Thinking = chela.ThinkingHigh
	f := r.finish(req)
	if len(f.Thinking) == 0 {
		r.Fatal("the finish has no thinking")
	}
	r.want(f.Thinking[0].Text, "Let me see.")
	r.want(f.Text, "Yes.")
}

func checkUsage(r *run) { r.want(r.finish(r.request(say("hello"))).Usage, r.c.Answer(0).Usage) }

func checkOdd(r *run) { r.want(r.finish(r.request(say("hello"))).Text, odd) }

// checkOddSent sends what a person or tool may have said, bytes that are not
// text included: those are replaced, and the request stays readable.
func checkOddSent(r *run) {
	r.want(r.finish(r.request(say(odd))).Text, odd)
	f := r.finish(r.request(say("broken \xff\xc3 bytes")))
	if !r.h.Unscripted && !(strings.HasPrefix(f.Text, "broken ") && strings.HasSuffix(f.Text, " bytes")) {
		r.Errorf("echo of broken bytes is %q", f.Text)
	}
}

func checkHuge(r *run) {
	f := r.finish(r.request(say("go on")))
	if want := strings.Join(r.c.Answer(0).Text, ""); f.Text != want {
		r.Errorf("answer has %d bytes, want the %d that were sent", len(f.Text), len(want))
	}
}

func checkSplit(r *run) {
	f := r.finish(r.request(say("hello")))
	r.want(f.Text, odd)
	if len(f.Calls) != 1 {
		r.Fatalf("got %d calls, want 1", len(f.Calls))
	}
	r.want(string(f.Calls[0].Args), `{"zone":"Łódź"}`)
}

func checkPlain(r *run) {
	req := r.request(say("hello"))
	streamed := r.finish(req)
	req.Plain = true
	plain := r.finish(req)
	r.want(plain, streamed)
	if got, ok := r.sent(); ok {
		r.want(got.Plain, true)
	}
}

// checkConcurrent streams eight answers at once through one provider: parallel
// subtests, which their group waits for.
func checkConcurrent(r *run) {
	r.Run("at once", func(t *testing.T) {
		for i := range 8 {
			text := fmt.Sprintf("hello %d", i)
			t.Run(text, func(t *testing.T) {
				t.Parallel()
				one := run{T: t, h: r.h, c: r.c, p: r.p}
				one.want(one.finish(one.request(say(text))).Text, text)
			})
		}
	})
}

func checkLength(r *run) {
	f := r.finish(r.request(say("what time is it?")))
	r.want(f.Stop, chela.StopLength)
	r.want(f.Text, "It is")
	if len(f.Calls) != 1 || !utf8.ValidString(f.Calls[0].Raw) || f.Calls[0].Raw == "" {
		r.Errorf("the cut call came as %+v, want one with its raw arguments", f.Calls)
	}
}

func checkRefusal(r *run) { r.want(r.finish(r.request(say("harm"))).Stop, chela.StopRefusal) }
