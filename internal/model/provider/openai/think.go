package openai

import "strings"

// Tags around the reasoning of models whose server does not tell it from the text,
// such as DeepSeek R1 and Qwen behind servers without a reasoning parser.
const (
	thinkBegin = "<think>"
	thinkEnd   = "</think>"
)

// A thinkSplitter takes the reasoning out of a streamed text. Reasoning is what
// stands between the two tags at the beginning of an answer; elsewhere the tags are
// text. An answer with reasoning in a field of its own is left as it is.
//
//	begin ─▶ inside ─▶ after        the text begins with the tag
//	begin ─▶ after                  it does not
type thinkSplitter struct {
	state thinkState
	held  string // may be the beginning of a tag
}

type thinkState int

const (
	thinkAtBegin thinkState = iota
	thinkInside
	thinkAfterEnd // blanks between the reasoning and the text
	thinkAfter
)

// split returns the reasoning and the text of the next piece.
func (s *thinkSplitter) split(thinking, text string) (thought, said string) {
	if thinking != "" && s.state == thinkAtBegin {
		s.state = thinkAfter
		text, s.held = s.held+text, ""
	}
	thought = thinking
	for text != "" {
		switch s.state {
		case thinkAtBegin:
			s.held += text
			text = ""
			switch trimmed := strings.TrimLeft(s.held, " \t\r\n"); {
			case strings.HasPrefix(trimmed, thinkBegin):
				text, s.held, s.state = trimmed[len(thinkBegin):], "", thinkInside
			case !strings.HasPrefix(thinkBegin, trimmed):
				text, s.held, s.state = s.held, "", thinkAfter
			}
		case thinkInside:
			text, s.held = s.held+text, ""
			inside, after, found := strings.Cut(text, thinkEnd)
			if found {
				thought, text, s.state = thought+inside, after, thinkAfterEnd
				continue
			}
			keep := tagPrefix(text, thinkEnd)
			thought, s.held, text = thought+text[:len(text)-keep], text[len(text)-keep:], ""
		case thinkAfterEnd:
			if text = strings.TrimLeft(text, "\r\n"); text != "" {
				s.state = thinkAfter
			}
		default:
			said, text = said+text, ""
		}
	}
	return thought, said
}

// rest returns what was held back when the stream ended.
func (s *thinkSplitter) rest() (thought, said string) {
	held := s.held
	s.held = ""
	if s.state == thinkInside {
		return held, ""
	}
	return "", held
}

// tagPrefix returns the length of the longest end of text that begins a tag.
func tagPrefix(text, tag string) int {
	for n := min(len(text), len(tag)-1); n > 0; n-- {
		if strings.HasSuffix(text, tag[:n]) {
			return n
		}
	}
	return 0
}
