package matcher

import (
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

const (
	minWord  = gram // bytes; shorter ones are in every text
	maxWords = 32   // of one expression; with more, it is tried on every text
)

// wordsOf returns words of which every text that an expression matches holds
// one, after folding; nil if there are none of minWord bytes at least.
func wordsOf(re *syntax.Regexp) []string {
	switch re.Op {
	case syntax.OpLiteral:
		return wordOf(re)
	case syntax.OpCapture, syntax.OpPlus:
		return wordsOf(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return wordsOf(re.Sub[0])
		}
	case syntax.OpConcat:
		var best []string
		for _, sub := range re.Sub {
			if words := wordsOf(sub); better(words, best) {
				best = words
			}
		}
		return best
	case syntax.OpAlternate:
		var all []string
		for _, sub := range re.Sub {
			words := wordsOf(sub)
			if words == nil || len(all)+len(words) > maxWords {
				return nil
			}
			all = append(all, words...)
		}
		return all
	}
	return nil
}

// better reports whether fewer texts hold one of a than one of b.
func better(a, b []string) bool {
	if len(a) == 0 || len(b) == 0 {
		return len(a) > 0
	}
	return shortest(a) > shortest(b)
}

func shortest(words []string) int {
	n := len(words[0])
	for _, word := range words {
		n = min(n, len(word))
	}
	return n
}

// wordOf returns the longest part of a literal that stays the same wherever it
// matches, after folding. Where case does not count, letters outside ASCII may
// be others; U+FFFD matches bytes that are no letter.
func wordOf(re *syntax.Regexp) []string {
	differs := func(r rune) bool {
		return r == utf8.RuneError || re.Flags&syntax.FoldCase != 0 && r >= utf8.RuneSelf
	}
	longest := ""
	for part := range strings.FieldsFuncSeq(string(re.Rune), differs) {
		if part = fold(part); len(part) > len(longest) {
			longest = part
		}
	}
	if len(longest) < minWord {
		return nil
	}
	return []string{longest}
}

// folded are the letters outside ASCII that an expression without regard to
// case takes for one of ASCII: the long s and the sign of kelvin.
var folded = strings.NewReplacer("ſ", "s", "\u212a", "k")

// fold returns a text in which the letters of ASCII are small. Other letters
// stay: no word has them unless their case counts.
func fold(text string) string {
	if strings.Contains(text, "ſ") || strings.Contains(text, "\u212a") {
		text = folded.Replace(text)
	}
	lower := []byte(text)
	for i, c := range lower {
		if 'A' <= c && c <= 'Z' {
			lower[i] = c + 'a' - 'A'
		}
	}
	return string(lower)
}
