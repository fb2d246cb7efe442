package tool

import (
	"cmp"
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"chela/internal/platform/lazyregexp"
)

// A calculator evaluates an expression while it reads it (a Pratt parser): it
// builds no tree. Once err is set, values are without meaning and nothing more
// is read.
type calculator struct {
	size  int    // of the expression
	rest  string // of it, after token
	token token
	depth int
	err   error // the first one
}

// A token is a number, a name or a symbol. It is empty at the end of the
// expression, and once there is an error.
type token struct {
	text string // a name in lower case, a symbol in its usual form
	at   int    // position in the expression, from 1
	num  *big.Rat
	name bool
}

// tokens matches the mantissa and the exponent of a number, a name, or a symbol.
// An e without digits after it is left for the next token, so that 2e is an
// error.
var tokens = lazyregexp.New(`^(?:(\d[\d_]*(?:\.[\d_]*)?|\.[\d_]*)(?:[eE]([+-]?\d+))?|(π|[A-Za-z][A-Za-z\d]*)|\*\*|[-−+*×·/÷%^!(),])`)

// spellings maps alternative spellings to the usual ones.
var spellings = map[string]string{"−": "-", "×": "*", "·": "*", "÷": "/", "**": "^", "π": "pi"}

// maxTen is the largest power of ten of a number; see maxBits.
const maxTen = 6000

// Binding power of the operators.
const (
	bindSum = iota + 1
	bindProduct
	bindSign
	bindPower
	bindFactorial
)

var binding = map[string]int{
	"+": bindSum, "-": bindSum,
	"*": bindProduct, "/": bindProduct, "%": bindProduct,
	"^": bindPower,
	"!": bindFactorial,
}

// fail sets the error, unless there is one.
func (c *calculator) fail(format string, args ...any) number {
	if c.err == nil {
		c.err = fmt.Errorf(format, args...)
		c.token = token{}
	}
	return number{}
}

func (c *calculator) unexpected(want string) number {
	if c.token.text == "" {
		return c.fail("the expression ends where %s is expected", want)
	}
	return c.fail("unexpected %q at %d, expected %s", c.token.text, c.token.at, want)
}

// result checks the value of the operator or function t.
func (c *calculator) result(t token, v number, err error) number {
	if err == nil {
		v, err = checked(v)
	}
	if err != nil {
		return c.fail("%q at %d: %w", t.text, t.at, err)
	}
	return v
}

// advance reads the next token.
func (c *calculator) advance() {
	c.rest = strings.TrimLeftFunc(c.rest, unicode.IsSpace)
	at := c.size - len(c.rest) + 1
	c.token = token{at: at}
	if c.rest == "" || c.err != nil {
		return
	}
	m := tokens().FindStringSubmatch(c.rest)
	if m == nil {
		char, _ := utf8.DecodeRuneInString(c.rest)
		c.fail("character %q at %d does not belong in arithmetic", char, at)
		return
	}
	c.rest = c.rest[len(m[0]):]
	c.token.text = cmp.Or(spellings[m[0]], m[0])
	switch {
	case m[1] != "":
		c.token.num = c.number(at, m[1], m[2])
	case m[3] != "":
		c.token.text, c.token.name = strings.ToLower(c.token.text), true
	}
}

// number returns the value of a number token. Underscores may separate digits.
func (c *calculator) number(at int, mantissa, exponent string) *big.Rat {
	mantissa = strings.ReplaceAll(mantissa, "_", "")
	if mantissa == "." {
		c.fail("a number at %d has no digits", at)
		return nil
	}
	ten, err := strconv.Atoi(cmp.Or(exponent, "0"))
	if err != nil || ten > maxTen || ten < -maxTen {
		c.fail("the number at %d: %w", at, errTooLarge)
		return nil
	}
	num, ok := new(big.Rat).SetString(mantissa + "e" + strconv.Itoa(ten))
	if !ok {
		c.fail("cannot read the number at %d", at)
	}
	return num
}

// expect consumes the symbol s.
func (c *calculator) expect(s string) {
	if c.token.text != s {
		c.unexpected(strconv.Quote(s))
		return
	}
	c.advance()
}

// expression reads operators that bind more strongly than least.
func (c *calculator) expression(least int) number {
	c.depth++
	defer func() { c.depth-- }()
	if c.depth > maxDepth {
		return c.fail("the expression is nested more than %d deep", maxDepth)
	}
	left := c.operand()
	for binding[c.token.text] > least {
		left = c.operator(left)
	}
	return left
}

// operator applies the current operator to left and the operand after it.
func (c *calculator) operator(left number) number {
	op := c.token
	c.advance()
	if op.text == "!" {
		v, err := factorial(left)
		return c.result(op, v, err)
	}
	strength := binding[op.text]
	if op.text == "^" {
		strength-- // right to left, and 2^-1 works
	}
	right := c.expression(strength)
	if c.err != nil {
		return number{}
	}
	v, err := apply(op.text, left, right)
	return c.result(op, v, err)
}

func (c *calculator) operand() number {
	t := c.token
	switch {
	case t.num != nil:
		c.advance()
		return number{t.num, true}
	case t.name:
		c.advance()
		return c.named(t)
	case t.text == "(":
		c.advance()
		v := c.expression(0)
		c.expect(")")
		return v
	case t.text == "-" || t.text == "+":
		c.advance()
		v := c.expression(bindSign)
		if c.err == nil && t.text == "-" {
			v.r = new(big.Rat).Neg(v.r)
		}
		return v
	default:
		return c.unexpected("a number")
	}
}

// named returns the value of a constant, or calls a function.
func (c *calculator) named(name token) number {
	if value, ok := constants[name.text]; ok {
		return number{value, false}
	}
	f, ok := functions[name.text]
	if !ok {
		return c.fail("there is no function or constant %q (at %d); there are %s", name.text, name.at, names())
	}
	var args []number
	c.expect("(")
	for more := c.err == nil; more; {
		args = append(args, c.expression(0))
		if more = c.token.text == ","; more {
			c.advance()
		}
	}
	c.expect(")")
	if c.err != nil {
		return number{}
	}
	if len(args) < f.least || f.most > 0 && len(args) > f.most {
		return c.result(name, number{}, errors.New("wrong number of arguments"))
	}
	v, err := f.call(args)
	return c.result(name, v, err)
}
