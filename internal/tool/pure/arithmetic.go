package pure

// This part of the package evaluates arithmetic. Whole numbers, decimals and
// fractions are exact whatever their size; roots, logarithms and angles are
// rounded to 15 digits and marked so. Size, depth and length are bounded, so
// that no expression takes long.
//
// The grammar, loosest first:
//
//	a + b   a - b
//	a * b   a / b   a % b
//	-a   +a
//	a ^ b              right to left; -2^2 is -4
//	a!
//	1.5e3   name   name(a, b)   (a)

import (
	"errors"
	"fmt"
	"math/big"
	"strings"
)

// Limits of an expression.
const (
	MaxLength = 4096   // bytes of an expression
	maxDepth  = 100    // parentheses, calls and signs inside each other
	maxBits   = 20_000 // of a numerator or denominator: 6,000 decimal digits
)

// A Result is the value of an expression.
type Result struct {
	Text  string // decimal digits
	Exact bool   // Text is the value itself, not a rounded one
	Ratio string // the value as a/b, where it is known, short, and has endless digits; else empty
}

// Eval returns the value of expr. The error describes the problem and its
// position, for the author of the expression.
func Eval(expr string) (Result, error) {
	if len(expr) > MaxLength {
		return Result{}, fmt.Errorf("the expression has %d bytes, %d are allowed", len(expr), MaxLength)
	}
	p := &parser{lexer: lexer{text: expr}}
	if err := p.advance(); err != nil {
		return Result{}, err
	}
	v, err := p.expression(0)
	if err != nil {
		return Result{}, err
	}
	if p.token.kind != tokenEnd {
		return Result{}, p.unexpected("an operator")
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

func (v number) result() Result {
	if !v.exact {
		return Result{Text: significant(v.r, roundedDigits)}
	}
	if digits, ends := v.r.FloatPrec(); ends {
		return Result{Text: v.r.FloatString(digits), Exact: true}
	}
	res := Result{Text: significant(v.r, endlessDigits)}
	if ratio := v.r.RatString(); len(ratio) <= maxRatio {
		res.Ratio = ratio
	}
	return res
}

// significant formats r with the given number of significant digits, without
// trailing zeros, and with an exponent if its magnitude is far from 1.
func significant(r *big.Rat, digits int) string {
	// 16 bits more than the digits need keep the conversion error out of the
	// result.
	f := new(big.Float).SetPrec(uint(digits)*4 + 16).SetRat(r)
	text := f.Text('g', digits)
	mantissa, exponent, found := strings.Cut(text, "e")
	if strings.Contains(mantissa, ".") {
		mantissa = strings.TrimRight(strings.TrimRight(mantissa, "0"), ".")
	}
	if !found {
		return mantissa
	}
	return mantissa + "e" + exponent
}
