package openaitest

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"chela/internal/model/catalogue"
)

var shortID = regexp.MustCompile(`^[a-zA-Z0-9]{9}$`)

// check refuses what the server lacks, and what it wants and misses.
func (q Quirks) check(req request) error {
	efforts := map[catalogue.Feature]string{
		catalogue.FeatureEffortNone: "none", catalogue.FeatureEffortMinimal: "minimal", catalogue.FeatureEffortXHigh: "xhigh",
	}
	strict := slices.ContainsFunc(req.Tools, func(t tool) bool { return t.Function.Strict })
	used := map[catalogue.Feature]bool{
		catalogue.FeatureStrict:              strict,
		catalogue.FeatureStreamUsage:         req.StreamOptions != nil,
		catalogue.FeatureMaxCompletionTokens: req.MaxCompletionTokens != nil,
		catalogue.FeatureReasoningEffort:     req.ReasoningEffort != "",
		catalogue.FeaturePromptCacheKey:      req.PromptCacheKey != "",
	}
	for f, value := range efforts {
		used[f] = req.ReasoningEffort == value
	}
	for f, is := range used {
		if is && slices.Contains(q.Lacks, f) {
			return fmt.Errorf("%s is not understood", f)
		}
	}
	switch {
	case req.Thinking != nil && (!slices.Contains(q.Has, catalogue.FeatureThinkingSwitch) || req.Thinking.Type != "disabled"):
		return fmt.Errorf("thinking %v is not understood", *req.Thinking)
	case req.ParallelToolCalls != nil && !slices.Contains(q.Has, catalogue.FeatureParallelSwitch):
		return fmt.Errorf("parallel_tool_calls is not understood")
	}
	for i, m := range req.Messages {
		if err := q.checkMessage(m); err != nil {
			return fmt.Errorf("message %d: %w", i, err)
		}
	}
	return nil
}

func (q Quirks) checkMessage(m message) error {
	for f, thought := range map[catalogue.Feature]*string{catalogue.FeatureReasoningContent: m.ReasoningContent, catalogue.FeatureReasoning: m.Reasoning} {
		wanted := slices.Contains(q.Has, f)
		switch {
		case wanted && len(m.ToolCalls) > 0 && thought == nil:
			return fmt.Errorf("%s must be passed back", f)
		case !wanted && thought != nil:
			return fmt.Errorf("%s is not understood", f)
		}
	}
	switch {
	case len(m.ToolCalls) > 1 && slices.Contains(q.Lacks, catalogue.FeatureParallelCalls):
		return fmt.Errorf("several calls at once are not understood")
	case strings.Contains(string(m.Content), "image_url") && slices.Contains(q.Lacks, catalogue.FeatureImages):
		return fmt.Errorf("images are not understood")
	case m.ReasoningDetails != nil && !slices.Contains(q.Has, catalogue.FeatureReasoningDetails):
		return fmt.Errorf("reasoning_details are not understood")
	}
	for _, d := range m.ReasoningDetails {
		text, _ := d["text"].(string)
		if d["signature"] != Detail(text)["signature"] {
			return fmt.Errorf("signature of the detail %v does not fit", d)
		}
	}
	for _, c := range m.ToolCalls {
		if slices.Contains(q.Lacks, catalogue.FeatureAnyCallID) && !shortID.MatchString(c.ID) {
			return fmt.Errorf("tool call id was %q but must be nine letters and digits", c.ID)
		}
	}
	return nil
}

// thoughts returns the reasoning that is sent back.
func thoughts(m message) []string {
	var all []string
	for _, thought := range []*string{m.ReasoningContent, m.Reasoning} {
		if thought != nil && *thought != "" {
			all = append(all, *thought)
		}
	}
	for _, d := range m.ReasoningDetails {
		text, _ := d["text"].(string)
		all = append(all, text)
	}
	return all
}
