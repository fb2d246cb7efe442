package script

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"chela"
)

// defaultChunkBytes is small, so that even short answers take several chunks.
const defaultChunkBytes = 16

// finish returns the complete answer of a step.
func (st *step) finish(req *chela.Request, at *place) (*chela.Finish, error) {
	text, err := at.quote(st.Text)
	if err != nil {
		return nil, err
	}
	f := &chela.Finish{
		Text:  strings.ToValidUTF8(text, "\ufffd"),
		Stop:  st.Stop,
		Model: cmp.Or(req.Model, Kind),
	}
	if st.Thinking != "" {
		f.Thinking = []chela.Thinking{{Text: st.Thinking, Provider: Kind}}
	}
	for i, c := range st.Calls {
		spec, err := c.spec(at)
		if err != nil {
			return nil, err
		}
		// Unique in the conversation, and the same for a repeated request.
		spec.Ref = cmp.Or(c.Ref, fmt.Sprintf("call_%d_%d", at.calls, i))
		f.Calls = append(f.Calls, spec)
	}
	if f.Stop == "" {
		f.Stop = chela.StopEnd
		if len(f.Calls) > 0 {
			f.Stop = chela.StopCalls
		}
	}
	f.Usage = st.usage(req, f)
	return f, nil
}

func (c *call) spec(at *place) (chela.CallSpec, error) {
	spec := chela.CallSpec{Tool: c.Tool}
	if c.ArgsRaw != "" {
		if json.Valid([]byte(c.ArgsRaw)) {
			spec.Args = json.RawMessage(c.ArgsRaw)
		} else {
			spec.Raw = c.ArgsRaw
		}
		return spec, nil
	}
	var missing error
	args := mapStrings(c.Args, func(s string) string {
		quoted, err := at.quote(s)
		missing = errors.Join(missing, err)
		return quoted
	})
	if missing != nil {
		return spec, missing
	}
	var err error
	spec.Args, err = json.Marshal(args)
	return spec, err
}

// usage returns the numbers of the scenario, or else bytes/4.
func (st *step) usage(req *chela.Request, f *chela.Finish) chela.TokenUsage {
	if st.Usage != nil {
		return chela.TokenUsage(*st.Usage)
	}
	in := len(req.System)
	for _, t := range req.Tools {
		in += len(t.Name) + len(t.Description) + len(t.Input)
	}
	for _, m := range req.Messages {
		in += len(m.Text)
		for _, c := range m.Calls {
			in += len(c.Args)
		}
	}
	out := len(f.Text) + len(st.Thinking)
	for _, c := range f.Calls {
		out += c.Written()
	}
	return chela.TokenUsage{
		Input:     int64(in+3) / 4,
		Output:    int64(out+3) / 4,
		Reasoning: int64(len(st.Thinking)+3) / 4,
	}
}

// chunks returns the stream of the answer f without its end: thinking, text, and a
// count for each call.
func (st *step) chunks(f *chela.Finish, plain bool) []chela.Chunk {
	size := cmp.Or(st.ChunkBytes, defaultChunkBytes)
	if plain {
		size = max(len(st.Thinking), len(f.Text))
	}
	var chunks []chela.Chunk
	for _, piece := range pieces(st.Thinking, size) {
		chunks = append(chunks, chela.Chunk{Thinking: piece})
	}
	for _, piece := range pieces(f.Text, size) {
		chunks = append(chunks, chela.Chunk{Text: piece})
	}
	for _, c := range f.Calls {
		chunks = append(chunks, chela.Chunk{Unseen: c.Written()})
	}
	return chunks
}

// pieces splits s into pieces of at most size bytes, more only for a single
// rune.
func pieces(s string, size int) []string {
	var cut []string
	for s != "" {
		n := min(size, len(s))
		for n > 0 && n < len(s) && !utf8.RuneStart(s[n]) {
			n--
		}
		if n == 0 {
			_, n = utf8.DecodeRuneInString(s)
		}
		cut = append(cut, s[:n])
		s = s[n:]
	}
	return cut
}
