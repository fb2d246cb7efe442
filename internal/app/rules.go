package app

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"chela"
	"chela/internal/config"
	"chela/internal/platform/nearest"
	"chela/internal/tool/workspace"
)

// requestPattern matches patterns that a request of the tool http can meet.
var requestPattern = regexp.MustCompile(`^(\*|[A-Z*]+ (\*|https?:|http\*))`)

// checkRules returns Invalid for a rule of the policy that no call can meet: a rule that
// denies would then protect nothing.
func checkRules(rules []config.Rule, tools []chela.Tool) error {
	names := make([]string, len(tools))
	for i, t := range tools {
		names[i] = t.Name
	}
	for i, r := range rules {
		if problem, hint := ruleProblem(r, names, tools); problem != "" {
			return chela.Ef(chela.Invalid, "rule %d of [[policy]]: %s", i+1, problem).WithHint(hint)
		}
	}
	return nil
}

func ruleProblem(r config.Rule, names []string, tools []chela.Tool) (problem, hint string) {
	if r.Tool == "" {
		return "", ""
	}
	at := slices.Index(names, r.Tool)
	if at < 0 {
		hint = "see chela tools list; a rule without tool is for all tools"
		if name := nearest.Name(r.Tool, names); name != "" {
			hint = "use " + name
		}
		return fmt.Sprintf("there is no tool %q", r.Tool), hint
	}
	switch t := tools[at]; {
	case r.Pattern == "":
	case t.Name == "http" && !requestPattern.MatchString(r.Pattern):
		return fmt.Sprintf("no request matches the pattern %q", r.Pattern), "begin with the method and the scheme, as in GET https://example.com/*"
	case t.Domain == chela.DomainWorker && t.Name != "shell" && !strings.HasPrefix(r.Pattern, "*") && !strings.HasPrefix(r.Pattern, workspace.Dir):
		return fmt.Sprintf("no path matches the pattern %q", r.Pattern), "write whole paths, as in " + workspace.Dir + "/" + strings.TrimPrefix(r.Pattern, "/")
	}
	return "", ""
}
