package hook

import (
	"context"
	"regexp"

	"chela"
)

// A rule replaces or refuses matches of an expression.
type rule struct {
	match   *regexp.Regexp
	replace string
	reject  bool
	watch   bool
}

func newRule(s Spec) (askFunc, error) {
	match, err := regexp.Compile(s.Match)
	if err != nil || s.Match == "" {
		return nil, chela.E(chela.Invalid, "the hook "+s.Name+" has no usable expression").WithHint("use a valid RE2 expression").Because(err)
	}
	return rule{match: match, replace: s.Replace, reject: s.Reject, watch: s.Watch}.ask, nil
}

// ask is an askFunc. It does no I/O.
func (r rule) ask(_ context.Context, m Moment) (outcome, error) {
	text := m.subject()
	switch {
	case !r.match.MatchString(text):
		return outcome{action: actContinue}, nil
	case r.watch:
		return outcome{action: actWatch}, nil
	case r.reject:
		return outcome{action: actReject}, nil
	default:
		return outcome{action: actModify, text: r.match.ReplaceAllString(text, r.replace)}, nil
	}
}
