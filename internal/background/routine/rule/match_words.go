package rule

import (
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

const (
	minWord  = gram // bytes; shorter words occur in every text
	maxWords = 32   // per expression; with more, it is run on every text
)

// wordsOf returns words such that every text matched by an expression contains
// at least one word after folding; nil if no such words of minWord bytes exist.
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
			if words := wordsOf(sub); betterWords(words, best) {
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

// betterWords reports whether fewer texts contain a word of a than a word of b.
func betterWords(a, b []string) bool {
	if len(a) == 0 || len(b) == 0 {
		return len(a) > 0
	}
	return shortestWord(a) > shortestWord(b)
}

func shortestWord(words []string) int {
	n := len(words[0])
	for _, word := range words {
		n = min(n, len(word))
	}
	return n
}

// wordOf returns the longest part of a literal that is the same in every match,
// after folding. Without regard to case, letters outside ASCII may vary; U+FFFD
// matches invalid bytes.
func wordOf(re *syntax.Regexp) []string {
	differs := func(r rune) bool {
		return r == utf8.RuneError || re.Flags&syntax.FoldCase != 0 && r >= utf8.RuneSelf
	}
	longest := ""
	for part := range strings.FieldsFuncSeq(string(re.Rune), differs) {
		if part = foldCase(part); len(part) > len(longest) {
			longest = part
		}
	}
	if len(longest) < minWord {
		return nil
	}
	return []string{longest}
}

// folded maps the non-ASCII letters that a case-insensitive expression treats
// as ASCII letters: the long s and the kelvin sign.
var folded = strings.NewReplacer("ſ", "s", "\u212a", "k")

// foldCase lowers the ASCII letters of a text. Other letters stay: a required word
// contains them only if case matters.
func foldCase(text string) string {
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
