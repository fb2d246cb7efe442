package policy

// This file decides which fetches follow from what the prompt holds. An address could
// carry private text out, so it must be one of few that the text does not determine: a
// link on a page that was fetched, or an address that was fetched before the prompt held
// text below folder, with one part changed to words that the owner typed in this turn.
// The author of a page still chooses among them. That is a choice of maxPages*maxLinks
// links and, for each of maxParts parts, of maxWords*(3+2*12) runs of words and
// maxOld*maxWords*3 changed words: about 4,100 addresses, so the host learns at most 12
// bits from each message that a person types. One fetch of a turn may follow (see
// agents.Rule).

import (
	"html"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"chela"
	"chela/internal/safety"
)

// Limits of the choice among addresses.
const (
	maxPages = 3   // the newest pages count
	maxLinks = 128 // the first links of each
	maxClean = 1   // the newest address counts
	maxParts = 6   // of an address: segments of its path and values of its query
	maxWords = 16  // the first words of the typed texts
	maxRun   = 3   // words in a row that make up a part
	maxOld   = 4   // words of the part that is changed
)

// follows reports whether a request follows from the trail of a prompt.
func follows(t *chela.Trail, typed chela.Typed, subject string) bool {
	method, _, _ := strings.Cut(subject, " ")
	want, ok := requested(subject)
	if t == nil || !ok || !typed.ByHand || method != "GET" {
		return false
	}
	for _, p := range t.Pages[max(0, len(t.Pages)-maxPages):] {
		if links(p, want) {
			return true
		}
	}
	words := typedWords(typed.Turn)
	for _, text := range t.Clean[max(0, len(t.Clean)-maxClean):] {
		if from, ok := address(text); ok && varies(from, want, words) {
			return true
		}
	}
	return false
}

// links reports whether a page has a link to an address of its own site.
func links(p chela.Page, want *url.URL) bool {
	from, ok := address(p.URL)
	if !ok || !sameSite(from, want) {
		return false
	}
	n := 0
	for _, word := range strings.FieldsFunc(p.Text, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("\"'<>()[]`", r) }) {
		if !strings.HasPrefix(word, "/") && !strings.Contains(word, "://") {
			continue
		}
		if n++; n > maxLinks {
			return false
		}
		link, err := from.Parse(html.UnescapeString(strings.TrimRight(word, ".,;")))
		if err != nil {
			continue
		}
		if link, ok := address(link.String()); ok && link.String() == want.String() {
			return true
		}
	}
	return false
}

// sameSite reports whether two addresses are of one registered domain, and have the
// same scheme and port.
func sameSite(a, b *url.URL) bool {
	if a.Scheme != b.Scheme || a.Port() != b.Port() {
		return false
	}
	return a.Host == b.Host || safety.SiteOf(a.Hostname()) == safety.SiteOf(b.Hostname())
}

// varies reports whether an address differs from another of the same site in its host
// alone, or on the same host in one part, which is made of typed words.
func varies(from, want *url.URL, words []string) bool {
	if !sameSite(from, want) {
		return false
	}
	before, form := parts(from)
	after, other := parts(want)
	if form != other || len(after) > maxParts {
		return false
	}
	changed := -1
	for i := range before {
		switch {
		case before[i] == after[i]:
		case changed >= 0:
			return false
		default:
			changed = i
		}
	}
	if from.Host != want.Host {
		return changed < 0
	}
	return changed >= 0 && isTyped(before[changed], after[changed], words)
}

// parts returns the segments of the path and the values of the query, in their order,
// and the address with gaps in place of them.
func parts(u *url.URL) (all []string, form string) {
	for segment := range strings.SplitSeq(strings.Trim(u.EscapedPath(), "/"), "/") {
		all, form = append(all, segment), form+"/ "
	}
	if strings.HasSuffix(u.EscapedPath(), "/") {
		form += "/"
	}
	if u.RawQuery == "" {
		return all, form
	}
	for pair := range strings.SplitSeq(u.RawQuery, "&") {
		key, value, _ := strings.Cut(pair, "=")
		all, form = append(all, value), form+"&"+key+"= "
	}
	return all, form
}

// isTyped reports whether a part of an address is a run of typed words, or the part
// that it replaces with one word changed to a typed one.
func isTyped(before, after string, typed []string) bool {
	for i := range typed {
		for n := 1; n <= maxRun && i+n <= len(typed); n++ {
			if spells(after, typed[i:i+n]) {
				return true
			}
		}
	}
	for _, at := range wordSpans(before) {
		rest, ok := strings.CutPrefix(after, before[:at[0]])
		if rest, ends := strings.CutSuffix(rest, before[at[1]:]); ok && ends && slices.ContainsFunc(typed, func(w string) bool { return spells(rest, []string{w}) }) {
			return true
		}
	}
	return false
}

// spells reports whether a part of an address consists of words, joined in one of the
// usual ways: as they were typed, in lower case, or with a first capital.
func spells(part string, words []string) bool {
	for _, joint := range []string{"-", "_", "+", "%20"} {
		for _, shape := range []func(string) string{func(w string) string { return w }, strings.ToLower, capital} {
			shaped := make([]string, len(words))
			for i, w := range words {
				shaped[i] = url.PathEscape(shape(w))
			}
			if part == strings.Join(shaped, joint) {
				return true
			}
		}
	}
	return false
}

func capital(word string) string {
	first, size := utf8.DecodeRuneInString(word)
	return string(unicode.ToUpper(first)) + word[size:]
}

// typedWords returns the first words of typed texts.
func typedWords(texts []string) []string {
	words := strings.FieldsFunc(strings.Join(tokens(texts), " "), isNoWord)
	return words[:min(len(words), maxWords)]
}

// wordSpans returns the places of the first words of a part of an address.
func wordSpans(part string) (spans [][2]int) {
	begin := -1
	for i, r := range part + "/" {
		switch {
		case isNoWord(r) && begin >= 0:
			spans, begin = append(spans, [2]int{begin, i}), -1
		case !isNoWord(r) && begin < 0:
			begin = i
		}
	}
	return spans[:min(len(spans), maxOld)]
}

func isNoWord(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }
