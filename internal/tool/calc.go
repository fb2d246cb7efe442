package tool

import (
	"errors"
	"fmt"
	"math/big"
	"time"

	"chela"
)

// calcTime is far above the time that the largest accepted expression takes.
const calcTime = 2 * time.Second

type calcInput struct {
	Expression string `json:"expression" jsonschema:"the expression, such as (1 + 2) * 3"`
}

// Calc returns the tool that does arithmetic.
func Calc() chela.Tool {
	t := pure("calc", func(in calcInput) (string, error) {
		res, err := Eval(in.Expression)
		switch {
		case err != nil:
			return "", fmt.Errorf("cannot calculate: %w", err)
		case res.Ratio != "":
			return res.Text + "… (exactly " + res.Ratio + ")", nil
		case !res.Exact:
			return res.Text + " (rounded)", nil
		default:
			return res.Text, nil
		}
	})
	t.Timeout = calcTime
	return t
}

// Limits of an expression.
const (
	MaxExpression = 4096   // bytes
	maxDepth      = 100    // parentheses, calls and signs inside each other
	maxBits       = 20_000 // of a numerator or denominator: 6,000 decimal digits
)

// A CalcResult is the value of an expression.
type CalcResult struct {
	Text  string // decimal digits
	Exact bool   // Text is the value itself, not a rounded one
	Ratio string // the value as a/b, where it is known, short, and has endless digits; else empty
}

// Eval returns the value of an arithmetic expression. Whole numbers, decimals and
// fractions are exact whatever their size; roots, logarithms and angles are
// rounded to 15 digits and marked so. Size, depth and length are bounded, so
// that no expression takes long. The error describes the problem and its
// position, for the author of the expression.
//
// The grammar, loosest first:
//
//	a + b   a - b
//	a * b   a / b   a % b
//	-a   +a
//	a ^ b              right to left; -2^2 is -4
//	a!
//	1.5e3   name   name(a, b)   (a)
func Eval(expr string) (CalcResult, error) {
	if len(expr) > MaxExpression {
		return CalcResult{}, fmt.Errorf("the expression has %d bytes, %d are allowed", len(expr), MaxExpression)
	}
	c := &calculator{size: len(expr), rest: expr}
	c.advance()
	v := c.expression(0)
	if c.token.text != "" {
		c.unexpected("an operator")
	}
	if c.err != nil {
		return CalcResult{}, c.err
	}
	return v.result(), nil
}

// A number is a number, with a flag that says whether it is exact.
type number struct {
	r     *big.Rat
	exact bool
}

var errTooLarge = errors.New("the result is too large or too precise (at most 6,000 digits)")

// checked returns v, or an error if it exceeds the largest supported value.
func checked(v number) (number, error) {
	if v.r.Num().BitLen() > maxBits || v.r.Denom().BitLen() > maxBits {
		return number{}, errTooLarge
	}
	return v, nil
}

// Digits shown of a rounded value, and of an exact value with endless decimals.
// A float64 is good for 15.
const (
	roundedDigits = 15
	endlessDigits = 30
	maxRatio      = 60 // bytes of a ratio that is still worth reading
)

func (v number) result() CalcResult {
	if !v.exact {
		return CalcResult{Text: significant(v.r, roundedDigits)}
	}
	if digits, ends := v.r.FloatPrec(); ends {
		return CalcResult{Text: v.r.FloatString(digits), Exact: true}
	}
	res := CalcResult{Text: significant(v.r, endlessDigits)}
	if ratio := v.r.RatString(); len(ratio) <= maxRatio {
		res.Ratio = ratio
	}
	return res
}

// significant formats r with at most the given number of significant digits, and
// with an exponent if its magnitude is far from 1.
func significant(r *big.Rat, digits int) string {
	// 16 bits more than the digits need keep the conversion error out of the
	// result.
	return new(big.Float).SetPrec(uint(digits)*4+16).SetRat(r).Text('g', digits)
}
