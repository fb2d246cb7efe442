package policy

import (
	"strings"

	"chela"
)

// String describes a rule for people, as "deny shell: git push*".
func (r Rule) String() string {
	text := string(r.Verdict) + " "
	if r.Tool == "" {
		text += "every tool"
	} else {
		text += r.Tool
	}
	for _, limit := range []struct{ of, value string }{
		{"effect", string(r.Effect)}, {"agent", r.Agent}, {"channel", r.Channel}, {"group", r.Group}, {"sender", r.Sender},
	} {
		if limit.value != "" {
			text += ", " + limit.of + " " + limit.value
		}
	}
	if r.Untrusted {
		text += ", also after text from outside"
	}
	if r.Pattern != "" {
		text += ": " + r.Pattern
	}
	return text
}

// Matching returns the rules that apply to a call.
func Matching(rules []Rule, q Question) (found []Rule) {
	for _, r := range rules {
		if r.matches(q) {
			found = append(found, r)
		}
	}
	return found
}

// classWords describe the classes of calls.
var classWords = map[class]string{
	classRead: "reads", classReading: "programs that only read, in the sandbox", classWrite: "writes of files in the workspace",
	classBounded: "programs in the sandbox, without network and secrets", classListed: "programs that reach only hosts in the settings",
	classFetch: "fetches, with nothing private in the prompt",
}

// Allows describes the calls that a profile allows without a question.
func Allows(p chela.Profile) []string {
	var words []string
	for _, c := range profiles[p] {
		words = append(words, classWords[c])
	}
	return words
}

// Suggest returns the patterns that a person most likely means who allows calls like
// this one from now on, one for each subject: commands with the same program and
// subcommand, requests of the same method to the same host, files of the same folder.
// It returns nothing for a call without subjects.
func Suggest(a chela.Approval) []string {
	patterns := make([]string, len(a.Subjects))
	for i, s := range a.Subjects {
		patterns[i] = suggestion(a, s)
		if !Covers(chela.Grant{Pattern: patterns[i]}, chela.Judgement{Effect: a.Effect, Exact: a.Exact}, s) {
			patterns[i] = s
		}
	}
	return patterns
}

func suggestion(a chela.Approval, subject string) string {
	stem := Stem(a.Effect, subject)
	switch {
	case a.Exact || a.Floor || strings.Contains(subject, "*"):
		return subject
	case a.Effect == chela.EffectExecute && !strings.Contains(stem, "://"):
		rest := strings.TrimPrefix(subject, stem)
		verb, _, _ := strings.Cut(strings.TrimPrefix(rest, " "), " ")
		if verb == "" || strings.Trim(verb, "abcdefghijklmnopqrstuvwxyz-") != "" || strings.HasPrefix(verb, "-") {
			return subject
		}
		return stem + " " + verb + "*"
	case strings.Contains(stem, "://"):
		return stem + "*"
	case strings.HasPrefix(subject, "/"):
		return subject[:strings.LastIndexByte(subject, '/')+1] + "*"
	default:
		return subject
	}
}

// Scope says in words which calls a pattern covers: "exactly `make`", "commands like
// `git status`", "GET to api.github.com", "files below /workspace/notes".
func Scope(e chela.Effect, o chela.Offer) string {
	fixed, rest, wild := strings.Cut(o.Pattern, "*")
	method, url, isURL := strings.Cut(fixed, "://")
	switch {
	case o.Pattern == "":
		return o.String()
	case o.Literal || !wild:
		return "exactly `" + o.Pattern + "`"
	case rest != "":
		return "what matches `" + o.Pattern + "`"
	case isURL && strings.HasSuffix(url, "/"):
		verb, _, _ := strings.Cut(method, " ")
		return verb + " to " + strings.TrimSuffix(url, "/")
	case strings.HasPrefix(fixed, "/") && strings.HasSuffix(fixed, "/"):
		return "files below " + strings.TrimSuffix(fixed, "/")
	case e == chela.EffectExecute:
		return "commands like `" + strings.TrimSpace(fixed) + "`"
	default:
		return "what begins with `" + fixed + "`"
	}
}
