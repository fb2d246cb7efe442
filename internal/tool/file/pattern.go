package file

import (
	"errors"
	"fmt"
	"path"
	"strings"
)

// maxAlternatives is how many patterns the braces of one may stand for.
const maxAlternatives = 100

// A pattern matches names under a directory: * and ? within one part, [a-z],
// ** for any number of parts, {a,b} for either.
type pattern struct {
	alternatives [][]string // parts
}

func parsePattern(text string) (pattern, error) {
	if text == "" {
		return pattern{}, errors.New("it is empty; use ** for everything")
	}
	texts, err := expandBraces(text)
	if err != nil {
		return pattern{}, err
	}
	var p pattern
	for _, alternative := range texts {
		parts := strings.Split(path.Clean(alternative), "/")
		for _, part := range parts {
			if part == ".." {
				return pattern{}, errors.New("it cannot have ..; name the directory as path")
			}
			if _, err := path.Match(part, ""); err != nil {
				return pattern{}, fmt.Errorf("%q is malformed; close every [", part)
			}
		}
		p.alternatives = append(p.alternatives, parts)
	}
	return p, nil
}

// expandBraces returns the texts that text with {a,b} stands for.
func expandBraces(text string) ([]string, error) {
	done, open := []string(nil), []string{text}
	for len(open) > 0 {
		if len(open)+len(done) > maxAlternatives {
			return nil, fmt.Errorf("its braces stand for more than %d patterns", maxAlternatives)
		}
		next := open[len(open)-1]
		open = open[:len(open)-1]
		from := strings.LastIndexByte(next, '{') // innermost first
		if from < 0 {
			done = append(done, next)
			continue
		}
		length := strings.IndexByte(next[from:], '}')
		if length < 0 {
			return nil, errors.New("a } is missing")
		}
		for choice := range strings.SplitSeq(next[from+1:from+length], ",") {
			open = append(open, next[:from]+choice+next[from+length+1:])
		}
	}
	return done, nil
}

// match reports whether name, relative to the root of the search, matches.
func (p pattern) match(name string) bool {
	parts := strings.Split(name, "/")
	for _, alternative := range p.alternatives {
		if matchParts(alternative, parts) {
			return true
		}
	}
	return false
}

// matchParts matches all parts. It backtracks to the last ** only, which is
// enough, so that many ** cost no more than one after the other.
func matchParts(want, parts []string) bool {
	w, p := 0, 0
	star, mark := -1, 0 // the last ** and the part it ends before
	for p < len(parts) {
		switch {
		case w < len(want) && want[w] == "**":
			star, mark = w, p
			w++
		case w < len(want) && matchPart(want[w], parts[p]):
			w, p = w+1, p+1
		case star >= 0:
			mark++
			w, p = star+1, mark
		default:
			return false
		}
	}
	for w < len(want) && want[w] == "**" {
		w++
	}
	return w == len(want)
}

func matchPart(want, part string) bool {
	ok, err := path.Match(want, part)
	return ok && err == nil // parsePattern saw that it is well-formed
}
