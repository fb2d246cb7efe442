package leak

import (
	"strings"

	"chela/internal/platform/lazyregexp"
)

// An assignment decides whether a secret follows a word that ends at an offset
// of text, and where.
type assignment func(text string, at int) (start, end int, ok bool)

// assignments are the words after which a value is assigned, passed or sent.
// The expressions of the library for the same purpose are too slow, since these
// words occur in most texts about programs.
var assignments = map[string]assignment{
	"password": assigned(passwords), "passwd": assigned(passwords), "passphrase": assigned(passwords), "_pwd": assigned(passwords),
	"secret": assigned(random), "token": assigned(random), "credential": assigned(random), "apikey": assigned(random),
	"api_key": assigned(random), "api-key": assigned(random), "access_key": assigned(random), "accesskey": assigned(random),
	"auth_key": assigned(random), "private_key": assigned(random), "encryption_key": assigned(random), "signing_key": assigned(random),
	"account_key": assigned(random), "accountkey": assigned(random), "master_key": assigned(random), "sharedaccesskey": assigned(random),
	"bearer ": sent, "basic ": sent,
	"://": userinfo,
}

func inToken(b byte) bool {
	return 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || '0' <= b && b <= '9' || strings.IndexByte("_-.=+/~@%!#$^&*:'\"`\\", b) >= 0
}

func skip(text string, at, most int, set string) int {
	for n := 0; n < most && at < len(text) && strings.IndexByte(set, text[at]) >= 0; n++ {
		at++
	}
	return at
}

const (
	letters   = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	wordChars = letters + "0123456789_-."
)

// assigned returns the assignment of a value to a name that holds the word:
//
//	api_key = "…"    "clientSecret": "…"    SECRET=…    <token>…    --password …
func assigned(counts func(value string, quoted bool) bool) assignment {
	return func(text string, at int) (start, end int, ok bool) {
		name := skip(text, at, 20, wordChars)
		next := skip(text, name, 3, " \t'\"`+") // "+" is a blank in a query
		op := skip(text, next, 3, "=:>?|")
		flag := op == next && next > name && isFlag(text, at)
		if op == next && !flag {
			return 0, 0, false
		}
		start = skip(text, op, 5, " \t'\"`=\\")
		quoted := start > op && strings.IndexByte("'\"`", text[start-1]) >= 0
		end = start
		for end < len(text) && end-start < 512 && valueByte(text[end], quoted) {
			end++
		}
		return start, end, counts(text[start:end], quoted)
	}
}

// isFlag reports whether the name that goes on at an offset begins with "--".
func isFlag(text string, at int) bool {
	begin := at
	for begin > max(0, at-40) && strings.IndexByte(wordChars, text[begin-1]) >= 0 {
		begin--
	}
	return strings.HasPrefix(text[begin:], "--")
}

func valueByte(b byte, quoted bool) bool {
	if quoted {
		return b > ' ' && b < 0x7f && strings.IndexByte("'\"`", b) < 0
	}
	return strings.IndexByte(wordChars+"=+/~@%!#$^&*:", b) >= 0
}

// Values that stand for a secret, or are none.
var placeholder = lazyregexp.New(`(?i)^(?:` +
	`[<\[{(%$].*` + // <your key>, ${VAR}, $(command), %VAR%
	`|.*(?:\.\.\.|xxxx|\*\*\*|example|changeme|placeholder|redacted|your[_-]).*` +
	`|(?:env|file|secret|exec|vault|process\.env|os\.environ|os\.getenv|getenv|config|self|this|ctx|req|args)[.:\[(].*` +
	`|[\w.]*\(.*` + // a call
	`|(?:urn:uuid:)?[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}` + // a UUID
	`|/[\w./-]*|\.{0,2}/.*|https?://[^@]*` + // a path, an address
	`|\d[\d.,:_-]*` + // a number, a time, a version
	`)$`)

// passwords reports whether a value may be a password that a person chose.
func passwords(value string, quoted bool) bool {
	if len(value) < 8 || !strings.ContainsAny(value, "0123456789") && !(quoted && strings.ContainsAny(value, "!@#$%^&*+")) ||
		!strings.ContainsAny(value, letters) {
		return false
	}
	return entropy(value) >= 2.5 && !placeholder().MatchString(value) && !isName(value)
}

// random reports whether a value may be a key made at random.
func random(value string, _ bool) bool {
	if len(value) < 16 || !strings.ContainsAny(value, "0123456789") || !strings.ContainsAny(value, letters) {
		return false
	}
	return entropy(value) >= 3.3 && !placeholder().MatchString(value) && !isName(value)
}

// isName reports whether a value reads as an identifier or a title with a number:
// words of letters and separators, with few digits.
func isName(value string) bool {
	digits := 0
	for _, word := range strings.FieldsFunc(value, func(r rune) bool { return strings.ContainsRune("_-./:", r) }) {
		letter, digit := strings.Trim(word, letters) == "", strings.Trim(word, "0123456789") == ""
		switch {
		case digit:
			digits += len(word)
		case !letter && len(word) > 6:
			return false
		}
	}
	return digits <= 8
}

// sent finds the value of a header Authorization.
func sent(text string, at int) (start, end int, ok bool) {
	for end = at; end < len(text) && strings.IndexByte(wordChars+"=~@+/", text[end]) >= 0; end++ {
	}
	return at, end, random(text[at:end], false)
}

// userinfo finds the password of a URL: scheme://user:password@host.
func userinfo(text string, at int) (start, end int, ok bool) {
	for i := at; i < len(text) && i-at < 256; i++ {
		switch b := text[i]; {
		case b == ':' && start == 0:
			start = i + 1
		case b == '@':
			ok = start > 0 && i-start >= 4 && !placeholder().MatchString(text[start:i]) && !strings.Contains(text[at:start], "@")
			return start, i, ok && strings.ToLower(text[start:i]) != "password"
		case b <= ' ', b >= 0x7f, strings.IndexByte("/?#'\"`<>[]{}", b) >= 0:
			return 0, 0, false
		}
	}
	return 0, 0, false
}
