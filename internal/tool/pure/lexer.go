package pure

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

type tokenKind int

const (
	tokenEnd tokenKind = iota
	tokenNumber
	tokenName
	tokenSymbol // an operator, parenthesis or comma
)

type token struct {
	kind tokenKind
	text string // a name in lower case, a symbol in its usual form
	at   int    // byte offset in the expression
	num  *big.Rat
}

// A lexer splits an expression into tokens.
type lexer struct {
	text string
	pos  int
}

// symbols maps alternative spellings of an operator to its usual one.
var symbols = map[rune]string{
	'+': "+", '-': "-", '−': "-", '*': "*", '×': "*", '·': "*", '/': "/", '÷': "/",
	'%': "%", '^': "^", '!': "!", '(': "(", ')': ")", ',': ",",
}

func (l *lexer) next() (token, error) {
	l.pos += len(l.text[l.pos:]) - len(strings.TrimLeftFunc(l.text[l.pos:], unicode.IsSpace))
	rest, at := l.text[l.pos:], l.pos
	if rest == "" {
		return token{kind: tokenEnd, at: at}, nil
	}
	if strings.HasPrefix(rest, "**") {
		l.pos += 2
		return token{kind: tokenSymbol, text: "^", at: at}, nil
	}
	c, size := utf8.DecodeRuneInString(rest)
	switch {
	case isDigit(c) || c == '.':
		return l.number()
	case c == 'π':
		l.pos += size
		return token{kind: tokenName, text: "pi", at: at}, nil
	case isLetter(c):
		end := strings.IndexFunc(rest, func(c rune) bool { return !isLetter(c) && !isDigit(c) })
		if end < 0 {
			end = len(rest)
		}
		l.pos += end
		return token{kind: tokenName, text: strings.ToLower(rest[:end]), at: at}, nil
	case symbols[c] != "":
		l.pos += size
		return token{kind: tokenSymbol, text: symbols[c], at: at}, nil
	default:
		return token{}, fmt.Errorf("character %q at %d does not belong in arithmetic", c, at+1)
	}
}

// maxTen is the largest power of ten of a number; see maxBits.
const maxTen = 6000

// number reads digits with an optional fraction and exponent. Underscores may
// separate digits.
func (l *lexer) number() (token, error) {
	at := l.pos
	digits := l.digits()
	if strings.HasPrefix(l.text[l.pos:], ".") {
		l.pos++
		digits += "." + l.digits()
	}
	if strings.Trim(digits, ".") == "" {
		return token{}, fmt.Errorf("a number at %d has no digits", at+1)
	}
	digits += l.exponent()
	if _, exponent, found := strings.Cut(digits, "e"); found {
		if ten, err := strconv.Atoi(exponent); err != nil || ten > maxTen || ten < -maxTen {
			return token{}, fmt.Errorf("the number at %d: %w", at+1, errTooLarge)
		}
	}
	num, ok := new(big.Rat).SetString(digits)
	if !ok {
		return token{}, fmt.Errorf("cannot read the number at %d", at+1)
	}
	return token{kind: tokenNumber, text: l.text[at:l.pos], at: at, num: num}, nil
}

func (l *lexer) digits() string {
	rest := l.text[l.pos:]
	end := strings.IndexFunc(rest, func(c rune) bool { return !isDigit(c) && c != '_' })
	if end < 0 {
		end = len(rest)
	}
	l.pos += end
	return strings.ReplaceAll(rest[:end], "_", "")
}

// exponent reads e followed by an integer; an e followed by anything else is
// left for the next token, so that 2e is reported as an error.
func (l *lexer) exponent() string {
	rest := l.text[l.pos:]
	if rest == "" || rest[0] != 'e' && rest[0] != 'E' {
		return ""
	}
	from := 1
	if len(rest) > 1 && (rest[1] == '+' || rest[1] == '-') {
		from = 2
	}
	end := from
	for end < len(rest) && isDigit(rune(rest[end])) {
		end++
	}
	if end == from {
		return ""
	}
	l.pos += end
	return "e" + rest[1:end]
}

func isDigit(c rune) bool { return '0' <= c && c <= '9' }

func isLetter(c rune) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }
