package offline

import (
	"regexp"
	"strings"
	"sync"
)

func calcForms() []form {
	const number = `[-+]?[\d.,]+`
	pair := func(expression, operator string, swapped bool) form {
		return newForm(strings.ReplaceAll(expression, "NUM", number), func(g groups) (meaning, bool) {
			a, b := strings.TrimRight(g["a"], ".,"), strings.TrimRight(g["b"], ".,")
			if swapped {
				a, b = b, a
			}
			return compute(a+" "+operator+" "+b, true)
		})
	}
	const ask = `(?:(?:what(?:'s|s| is)|compute|calculate|find) )?(?:the )?`
	return []form{
		pair(ask+`sum of (?P<a>NUM) and (?P<b>NUM)`, "+", false),
		pair(ask+`product of (?P<a>NUM) and (?P<b>NUM)`, "*", false),
		pair(ask+`difference (?:of|between) (?P<a>NUM) and (?P<b>NUM)`, "-", false),
		pair(ask+`quotient of (?P<a>NUM) and (?P<b>NUM)`, "/", false),
		pair(`add (?P<a>NUM) (?:and|to|plus) (?P<b>NUM)`, "+", false),
		pair(`subtract (?P<a>NUM) from (?P<b>NUM)`, "-", true),
		pair(`multiply (?P<a>NUM) (?:by|with|and) (?P<b>NUM)`, "*", false),
		pair(`divide (?P<a>NUM) by (?P<b>NUM)`, "/", false),
		newForm(`(?:compute|calculate|calc|evaluate|work out|solve):? (?:the (?:result|value) of )?(?P<expression>.+?)(?: ?=)?`,
			func(g groups) (meaning, bool) { return compute(unquote(g["expression"]), true) }),
		newForm(`(?:(?:what(?:'s|s| is| are|)|how much (?:is|are)) )?(?:the (?:result|value) of )?(?P<expression>.+?)(?: equals?| ?=)?`,
			func(g groups) (meaning, bool) { return compute(unquote(g["expression"]), false) }),
	}
}

// compute builds a calc call for an expression. Unless asked is set, because
// the request names a calculation, the text must have an operator or a
// function.
func compute(text string, asked bool) (meaning, bool) {
	expression, ok := arithmetic(text)
	if !ok || !asked && !strings.ContainsAny(strings.TrimLeft(expression, "+- "), "+-*/%^!(") {
		return meaning{}, false
	}
	return do(action{tool: "calc", args: map[string]any{"expression": expression}})
}

var (
	maybeSum  = lazy(`^[\d(+\-.√π]|^(?:half|pi|the)\b|^[a-z0-9]+ ?\(|^(?:square|cube|factorial)\b`)
	isoDate   = lazy(`^\d{4}-\d\d-\d\d`)
	thousands = lazy(`(\d),(\d{3})\b`)
	allowed   = lazy(`^[0-9a-z.+\-−*/×÷·%^!(),π ]+$`)
	names     = lazy(`[a-z]+[0-9]*`)
	known     = lazy(`^(?:abs|floor|ceil|trunc|round|min|max|gcd|sqrt|ln|log|log2|exp|cbrt|sin|cos|tan|asin|acos|atan|deg|rad|pi|tau|e)$`)
)

// A rewording rewrites spoken arithmetic in the syntax of the calc tool.
type rewording struct {
	re *regexp.Regexp
	by string
}

// rewordings are applied in order.
var rewordings = sync.OnceValue(func() []rewording {
	var all []rewording
	for _, r := range [][2]string{
		{`^the `, ""},
		{`([\d.]+) ?(?:%|percent) of `, "$1/100*"},
		{`square root of ([\d.]+|\([^()]*\))`, "sqrt($1)"},
		{`√ ?([\d.]+)`, "sqrt($1)"},
		{`cube root of ([\d.]+|\([^()]*\))`, "cbrt($1)"},
		{`factorial of (\d+)|(\d+) factorial`, "$1$2!"},
		{`half of `, "1/2*"},
		{` ?(?:to the power of|raised to)(?: the)? ?`, "^"},
		{`\*\*`, "^"},
		{` squared`, "^2"},
		{` cubed`, "^3"},
		{` (?:plus|added to) `, " + "},
		{` minus `, " - "},
		{` (?:times|multiplied (?:by|with)) `, " * "},
		{` (?:divided by|over) `, " / "},
		{` mod(?:ulo)? `, " % "},
		{`([\d)]) ?x ?([\d(])`, "$1 * $2"},
	} {
		all = append(all, rewording{regexp.MustCompile(r[0]), r[1]})
	}
	return all
})

// arithmetic returns text as an expression of the calc tool, and whether it can
// be one: it has a digit, and no words other than function names.
func arithmetic(text string) (string, bool) {
	s := strings.ToLower(strings.TrimSpace(text))
	if len(s) > 1000 || !maybeSum().MatchString(s) || isoDate().MatchString(s) {
		return "", false
	}
	for _, w := range rewordings() {
		s = w.re.ReplaceAllString(s, w.by)
	}
	if !strings.Contains(s, "(") {
		s = thousands().ReplaceAllString(s, "$1$2")
		s = thousands().ReplaceAllString(s, "$1$2")
	}
	if !allowed().MatchString(s) || !strings.ContainsAny(s, "0123456789") {
		return "", false
	}
	for _, name := range names().FindAllString(s, -1) {
		if !known().MatchString(name) {
			return "", false
		}
	}
	return s, true
}
