package pure

import (
	"errors"
	"fmt"
	"math/big"
)

// A parser evaluates while it reads (a Pratt parser): it builds no tree.
type parser struct {
	lexer
	token token
	depth int
}

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

func (p *parser) advance() error {
	t, err := p.next()
	p.token = t
	return err
}

func (p *parser) unexpected(want string) error {
	if p.token.kind == tokenEnd {
		return fmt.Errorf("the expression ends where %s is expected", want)
	}
	got := p.token.text
	return fmt.Errorf("unexpected %q at %d, expected %s", got, p.token.at+1, want)
}

// expect consumes the symbol s.
func (p *parser) expect(s string) error {
	if p.token.kind != tokenSymbol || p.token.text != s {
		return p.unexpected(fmt.Sprintf("%q", s))
	}
	return p.advance()
}

// expression reads operators that bind more strongly than least.
func (p *parser) expression(least int) (number, error) {
	p.depth++
	defer func() { p.depth-- }()
	if p.depth > maxDepth {
		return number{}, fmt.Errorf("the expression is nested more than %d deep", maxDepth)
	}
	left, err := p.operand()
	for err == nil && p.token.kind == tokenSymbol && binding[p.token.text] > least {
		left, err = p.operator(left)
	}
	return left, err
}

// operator applies the current operator to left and the operand after it.
func (p *parser) operator(left number) (number, error) {
	op := p.token
	if err := p.advance(); err != nil {
		return number{}, err
	}
	if op.text == "!" {
		v, err := factorial(left)
		return v, located(err, op)
	}
	strength := binding[op.text]
	if op.text == "^" {
		strength-- // right to left, and 2^-1 works
	}
	right, err := p.expression(strength)
	if err != nil {
		return number{}, err
	}
	v, err := apply(op.text, left, right)
	return v, located(err, op)
}

func located(err error, t token) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%q at %d: %w", t.text, t.at+1, err)
}

func (p *parser) operand() (number, error) {
	t := p.token
	switch {
	case t.kind == tokenNumber:
		return number{t.num, true}, p.advance()
	case t.kind == tokenName:
		return p.named()
	case t.kind == tokenSymbol && t.text == "(":
		if err := p.advance(); err != nil {
			return number{}, err
		}
		v, err := p.expression(0)
		if err != nil {
			return number{}, err
		}
		return v, p.expect(")")
	case t.kind == tokenSymbol && (t.text == "-" || t.text == "+"):
		if err := p.advance(); err != nil {
			return number{}, err
		}
		v, err := p.expression(bindSign)
		if err == nil && t.text == "-" {
			v.r = new(big.Rat).Neg(v.r)
		}
		return v, err
	default:
		return number{}, p.unexpected("a number")
	}
}

// named reads a constant or a function call.
func (p *parser) named() (number, error) {
	name := p.token
	if err := p.advance(); err != nil {
		return number{}, err
	}
	if c, ok := constants[name.text]; ok {
		return number{new(big.Rat).Set(c), false}, nil
	}
	f, ok := functions[name.text]
	if !ok {
		return number{}, fmt.Errorf("there is no function or constant %q (at %d); there are %s", name.text, name.at+1, names())
	}
	if err := p.expect("("); err != nil {
		return number{}, err
	}
	args, err := p.arguments()
	if err != nil {
		return number{}, err
	}
	if len(args) < f.least || f.most > 0 && len(args) > f.most {
		return number{}, located(errors.New("wrong number of arguments"), name)
	}
	v, err := f.call(args)
	if err != nil {
		return number{}, located(err, name)
	}
	v, err = checked(v)
	return v, located(err, name)
}

// arguments reads values up to the closing parenthesis.
func (p *parser) arguments() ([]number, error) {
	var args []number
	for {
		v, err := p.expression(0)
		if err != nil {
			return nil, err
		}
		args = append(args, v)
		if p.token.kind != tokenSymbol || p.token.text != "," {
			return args, p.expect(")")
		}
		if err := p.advance(); err != nil {
			return nil, err
		}
	}
}
