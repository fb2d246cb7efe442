package openai_test

import (
	"strings"
	"testing"

	"chela"
)

// TestAnswersBegunAnew end a stream that has told what is void, and no other
// answer.
func TestAnswersBegunAnew(t *testing.T) {
	t.Parallel()
	chunks := func(pieces ...string) (all []chela.Chunk) {
		for _, text := range pieces {
			c := chela.Chunk{Text: text}
			if text == anew {
				c = chela.Chunk{Anew: true}
			}
			all = append(all, c)
		}
		return append(all, chela.Chunk{Finish: &chela.Finish{Text: "whoLE", Stop: chela.StopEnd}})
	}
	const streamed, plain = `,"stream":true`, ``
	for _, c := range []struct {
		name   string
		model  string
		stream string
		say    []step // of the agent
		pieces []string
		fails  bool
	}{
		{"model", "local/small", streamed, nil, []string{"brok", anew, "who", "LE"}, true},
		{"model, before it spoke", "local/small", streamed, nil, []string{anew, "who", "LE"}, false},
		{"model, plain", "local/small", plain, nil, []string{"brok", anew, "who", "LE"}, false},
		{"agent", "chela", streamed, []step{{say: []string{"brok", anew, "who", "LE"}}}, nil, true},
		{"agent, before it spoke", "chela", streamed, []step{{say: []string{anew, "whoLE"}}}, nil, false},
		{"agent, in its second step", "chela", streamed, []step{{say: []string{"a"}, own: "clock"}, {say: []string{anew, "whoLE"}}}, nil, false},
		{"agent, plain", "chela", plain, []step{{say: []string{"brok", anew, "whoLE"}}}, nil, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := &shelf{provider: fakeProvider{chunks: chunks(c.pieces...)}}
			body := `{"model":"` + c.model + `"` + c.stream + `,"messages":[{"role":"user","content":"x"}]}`
			got := post(setup(newHome(c.say...), s), chat, body).Body.String()
			told := strings.Contains(got, "a stream cannot retract text")
			if told != c.fails || strings.Contains(got, "LE") == c.fails || strings.Contains(got, "DONE") != (!c.fails && c.stream != plain) {
				t.Errorf("answered\n%s", got)
			}
		})
	}
}
