package script

import (
	"cmp"
	"fmt"
	"slices"

	"chela"
	"chela/internal/platform/excerpt"
)

// expect holds the assertions of a step about its request.
type expect struct {
	User     *pattern `yaml:"user"`
	Result   *pattern `yaml:"result"`
	Failed   *bool    `yaml:"failed"`
	System   *pattern `yaml:"system"`
	Contains *pattern `yaml:"contains"`
	Lacks    *pattern `yaml:"lacks"`
	Messages *int     `yaml:"messages"`
	Tools    []string `yaml:"tools"`
	NoTools  []string `yaml:"no_tools"`
	Thinking *string  `yaml:"thinking"`

	MaxTokens *int     `yaml:"max_tokens"`
	Stop      []string `yaml:"stop"`
	Format    *string  `yaml:"format"`
}

// check returns the first failed assertion, or "".
func (e *expect) check(req *chela.Request, p *place) string {
	var s chela.Sampling
	if req.Sampling != nil {
		s = *req.Sampling
	}
	format := "text"
	if s.Format != nil {
		format = cmp.Or(s.Format.Name, "json_object")
	}
	unmetStop := ""
	if e.Stop != nil && !slices.Equal(e.Stop, s.Stop) {
		unmetStop = fmt.Sprintf("expected the stop sequences %q, got %q", e.Stop, s.Stop)
	}
	return cmp.Or(
		unmetText("the user text", e.User, p.user()),
		e.unmetResult(p.results),
		unmetText("the system text", e.System, req.System),
		unmet("expected %d messages, got %d", e.Messages, len(req.Messages)),
		e.unmetMessages(req.Messages),
		e.unmetTools(req.Tools),
		unmet("expected max_tokens to be %d, got %d", e.MaxTokens, req.MaxTokens),
		unmetStop,
		unmet("expected the format %q, got %q", e.Format, format),
		unmet("expected thinking %q, got %q", e.Thinking, string(req.Thinking)),
	)
}

// unmet returns the text for a value that differs from the expected one, if any.
func unmet[T comparable](text string, want *T, got T) string {
	if want == nil || *want == got {
		return ""
	}
	return fmt.Sprintf(text, *want, got)
}

// maxGot bounds a quoted text in an error, in bytes.
const maxGot = 120

func unmetText(what string, want *pattern, got string) string {
	if want == nil || want.matches(got) {
		return ""
	}
	return fmt.Sprintf("expected %s to match %q, got %q", what, want.source, excerpt.Marked(got, maxGot))
}

func (e *expect) unmetResult(results []chela.Message) string {
	if e.Result == nil && e.Failed == nil {
		return ""
	}
	if len(results) == 0 {
		return "expected a tool result, got none"
	}
	newest := results[len(results)-1]
	if e.Failed != nil && *e.Failed != newest.Failed {
		return fmt.Sprintf("expected failed to be %t for the result %q", *e.Failed, excerpt.Marked(newest.Text, maxGot))
	}
	return unmetText("the newest result", e.Result, newest.Text)
}

func (e *expect) unmetMessages(messages []chela.Message) string {
	if e.Contains != nil && !slices.ContainsFunc(messages, e.Contains.in) {
		return fmt.Sprintf("expected a message that matches %q", e.Contains.source)
	}
	if e.Lacks == nil {
		return ""
	}
	if i := slices.IndexFunc(messages, e.Lacks.in); i >= 0 {
		return fmt.Sprintf("expected no message that matches %q, got %q", e.Lacks.source, excerpt.Marked(messages[i].Text, maxGot))
	}
	return ""
}

func (p *pattern) in(m chela.Message) bool { return p.matches(m.Text) }

func (e *expect) unmetTools(tools []chela.ToolSpec) string {
	offered := func(name string) bool {
		return slices.ContainsFunc(tools, func(t chela.ToolSpec) bool { return t.Name == name })
	}
	for _, name := range e.Tools {
		if !offered(name) {
			return fmt.Sprintf("expected the tool %s to be offered", name)
		}
	}
	for _, name := range e.NoTools {
		if offered(name) {
			return fmt.Sprintf("expected the tool %s not to be offered", name)
		}
	}
	return ""
}
