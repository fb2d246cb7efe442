package tool

import (
	"strings"

	"chela"
	"chela/internal/platform/excerpt"
)

// visible returns a judgement whose texts hide nothing from the person who is
// asked, whichever program shows them. Texts are escaped only here: questions,
// events and notices are built from its result.
func visible(j chela.Judgement) chela.Judgement {
	j.Preview, j.Risk = excerpt.Visible(j.Preview), excerpt.Visible(j.Risk)
	j.Subjects, j.Parts = visibleSubjects(j.Subjects), visibleSubjects(j.Parts)
	offers := make([]chela.Offer, len(j.Offers))
	for i, o := range j.Offers {
		offers[i] = chela.Offer{Pattern: visibleSubject(o.Pattern), Literal: o.Literal}
	}
	if j.Offers != nil {
		j.Offers = offers
	}
	return j
}

func visibleSubjects(subjects []string) []string {
	if subjects == nil {
		return nil
	}
	seen := make([]string, len(subjects))
	for i, s := range subjects {
		seen[i] = visibleSubject(s)
	}
	return seen
}

// visibleSubject escapes a subject with invisible characters, and marks it as
// escaped. Others stay as they are, so that patterns may contain backslashes.
// Different subjects stay different.
func visibleSubject(s string) string {
	const mark = " (escaped)"
	if !excerpt.Hides(s) && !strings.HasSuffix(s, mark) {
		return s
	}
	return excerpt.Visible(s) + mark
}
