package ollama

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"chela"
	"chela/internal/model/provider"
	"chela/internal/model/provider/wire"
)

// Parameters returns the parameters of Ollama's protocol, for
// [provider.Parameters]. A format constrains every token of an answer, so it
// excludes tool calls.
func Parameters() []provider.Parameter {
	return []provider.Parameter{
		provider.ParameterTemperature, provider.ParameterTopP, provider.ParameterTopK, provider.ParameterPresencePenalty, provider.ParameterFrequencyPenalty, provider.ParameterSeed, provider.ParameterStop,
		provider.ParameterJSONObject, provider.ParameterJSONSchema,
	}
}

// A request writes the request of a step, whose context may grow.
type request struct {
	wire.JSON // all members but the options
	sampling  sampling
	images    int
	room      int // context, in tokens
	window    int // largest context
}

// sampling are the options of a request besides the context.
type sampling struct {
	NumPredict       int      `json:"num_predict,omitempty"`
	Temperature      *float64 `json:"temperature,omitempty"`
	TopP             *float64 `json:"top_p,omitempty"`
	TopK             *int64   `json:"top_k,omitempty"`
	PresencePenalty  *float64 `json:"presence_penalty,omitempty"`
	FrequencyPenalty *float64 `json:"frequency_penalty,omitempty"`
	Seed             *int64   `json:"seed,omitempty"`
	Stop             []string `json:"stop,omitempty"`
}

// body returns the JSON of the request.
func (r *request) body() []byte {
	j := append(wire.JSON{}, r.JSON...)
	return *j.Int(`,"options":{"num_ctx":`, r.room).Members(r.sampling).Raw("}}")
}

// grow doubles the context; false if that exceeds the model's window.
func (r *request) grow() bool {
	fits := r.room < r.window
	r.room = min(2*r.room, r.window)
	return fits
}

// request returns the request for a step. Images of results follow in a user message
// after all results of the step, because few templates support them in results, and
// are left out for a model without vision.
//
// Unless truncate and shift are false, a prompt that does not fit is silently cut, and
// an answer that does not fit pushes the prompt out; see
// https://github.com/ollama/ollama/issues/3839.
func (p *Provider) request(ctx context.Context, req *chela.Request, m model) (*request, error) {
	form := wire.Form{Aside: true, Ends: true} // otherwise the model continues its own message
	if m.abilities != nil && !m.can("vision") {
		form.Blind = func(image wire.Part) string {
			return fmt.Sprintf("<attachment type=%q/> (an image, which this model cannot see)", image.MediaType)
		}
	}
	items, err := p.server.Items(ctx, req, wire.Whole(req.Messages, wire.FitsRef), form)
	if err != nil {
		return nil, err
	}
	r := &request{window: p.window(m), sampling: sampling{NumPredict: req.MaxTokens}}
	r.String(`{"model":`, req.Model).Raw(`,"stream":`).Raw(strconv.FormatBool(!req.Plain)).Raw(`,"truncate":false,"shift":false`)
	if think := think(req.Thinking, m); think != "" {
		r.Raw(`,"think":`).Raw(think)
	}
	if err := p.tools(r, req.Tools); err != nil {
		return nil, err
	}
	r.Raw(`,"messages":[`)
	if system := wire.System(req); system != "" {
		r.String(`{"role":"system","content":`, system).Raw("},")
	}
	for _, it := range items {
		r.add(it)
	}
	r.End("]")
	const perImage, bytesOfToken = 1_500, 3 // on the high side
	tokens := req.Tokens
	if tokens == 0 {
		tokens = len(r.JSON)/bytesOfToken + r.images*perImage
	}
	r.room = roomFor(m, tokens, req.MaxTokens, r.window)
	r.sample(req.Sampling)
	return r, nil
}

// sample sets the sampling parameters.
func (r *request) sample(s *chela.Sampling) {
	if s == nil {
		return
	}
	r.sampling = sampling{r.sampling.NumPredict, s.Temperature, s.TopP, s.TopK, s.PresencePenalty, s.FrequencyPenalty, s.Seed, s.Stop}
	switch {
	case s.Format == nil:
	case len(s.Format.Schema) > 0:
		r.Bytes(`,"format":`, s.Format.Schema)
	default:
		r.Raw(`,"format":"json"`)
	}
}

// tools writes the tools.
func (p *Provider) tools(r *request, tools []chela.ToolSpec) error {
	if len(tools) == 0 {
		return nil
	}
	r.Raw(`,"tools":[`)
	for _, t := range tools {
		if len(t.Input) == 0 {
			t.Input = json.RawMessage("null")
		}
		schema, err := p.server.Schema(t, `{"type":"object","properties":{}}`)
		if err != nil {
			return err
		}
		r.Tool(`{"type":"function","function":{"name":`, t)
		r.Bytes(`,"parameters":`, schema).Raw("}},")
	}
	r.End("]")
	return nil
}

// think returns the JSON of the think member: a level, true or false, or nothing for
// the model's default. Models without thinking reject the member; the gpt-oss family
// always thinks. See https://docs.ollama.com/capabilities/thinking.
func think(level chela.ThinkingLevel, m model) string {
	switch {
	case level == "" || !m.can("thinking"):
		return ""
	case strings.ReplaceAll(m.family, "-", "") == "gptoss":
		return strconv.Quote(wire.Efforts[level])
	default:
		return strconv.FormatBool(level != chela.ThinkingOff)
	}
}

// add writes a message. Its images follow its texts.
func (r *request) add(it wire.Item) {
	var texts []string
	var images wire.JSON
	for part := range it.Content() {
		if part.Image == nil {
			texts = append(texts, part.Text)
			continue
		}
		images.Base64(`"`, part.Image).Raw(",")
		r.images++
	}
	r.String(`{"role":`, string(it.Role)).String(`,"content":`, strings.Join(texts, "\n"))
	if len(images) > 0 {
		r.Bytes(`,"images":[`, images).End("]")
	}
	if it.Role == chela.RoleAssistant {
		r.said(it.Message)
	}
	if it.Role == chela.RoleTool {
		if it.Tool != "" {
			r.String(`,"tool_name":`, it.Tool)
		}
		r.String(`,"tool_call_id":`, it.Ref)
	}
	r.Raw("},")
}

// said writes the thinking and the calls of a past answer, which goes with its own
// thinking.
func (r *request) said(m *chela.Message) {
	thinking := ""
	for _, t := range m.Thinking {
		if t.Provider == kind {
			thinking += t.Text
		}
	}
	if thinking != "" {
		r.String(`,"thinking":`, thinking)
	}
	if len(m.Calls) == 0 {
		return
	}
	r.Raw(`,"tool_calls":[`)
	for _, c := range m.Calls {
		r.String(`{"id":`, c.Ref).String(`,"function":{"name":`, c.Tool).Bytes(`,"arguments":`, c.Args).Raw("}},")
	}
	r.End("]")
}
