package tool

import (
	"errors"
	"math"
	"math/big"
)

var errDivision = errors.New("division by zero")

// apply returns left op right.
func apply(op string, left, right number) (number, error) {
	exact := left.exact && right.exact
	r := new(big.Rat)
	switch op {
	case "+":
		r.Add(left.r, right.r)
	case "-":
		r.Sub(left.r, right.r)
	case "*":
		r.Mul(left.r, right.r)
	case "^":
		return power(left, right)
	default: // "/" and "%"
		if right.r.Sign() == 0 {
			return number{}, errDivision
		}
		r.Quo(left.r, right.r)
		if op == "%" {
			whole := new(big.Rat).SetInt(floor(r))
			r.Sub(left.r, whole.Mul(whole, right.r))
		}
	}
	return checked(number{r, exact})
}

// power returns base^exponent. It is exact for whole exponents.
func power(base, exponent number) (number, error) {
	if !exponent.r.IsInt() {
		return fromFloat(math.Pow(float(base), float(exponent)))
	}
	if base.r.Sign() == 0 && exponent.r.Sign() < 0 {
		return number{}, errDivision
	}
	num, denom := base.r.Num(), base.r.Denom()
	n := new(big.Int).Abs(exponent.r.Num())
	// The result has about n times the bits of the base; 1, -1 and 0 stay small.
	bits := int64(max(num.BitLen(), denom.BitLen()) - 1)
	if bits > 0 && (!n.IsInt64() || n.Int64() > maxBits/bits+1) {
		return number{}, errTooLarge
	}
	if bits == 0 {
		n.And(n, big.NewInt(1)) // only its parity matters…
		if exponent.r.Sign() != 0 && n.Sign() == 0 {
			n.SetInt64(2) // …but 0^2 is not 0^0
		}
	}
	r := new(big.Rat).SetFrac(new(big.Int).Exp(num, n, nil), new(big.Int).Exp(denom, n, nil))
	if exponent.r.Sign() < 0 {
		r.Inv(r)
	}
	return checked(number{r, base.exact && exponent.exact})
}

// maxFactorial is the largest n whose factorial fits into maxBits.
const maxFactorial = 2000

func factorial(v number) (number, error) {
	n := v.r.Num()
	if !v.r.IsInt() || n.Sign() < 0 {
		return number{}, errors.New("a factorial needs a whole number that is not negative")
	}
	if !n.IsInt64() || n.Int64() > maxFactorial {
		return number{}, errTooLarge
	}
	product := new(big.Int).MulRange(1, n.Int64())
	return checked(number{new(big.Rat).SetInt(product), v.exact})
}

// float returns v as a float64, infinite if it is out of range.
func float(v number) float64 {
	f, _ := v.r.Float64()
	return f
}

// fromFloat returns f as a rounded value. NaN and the infinities are errors.
func fromFloat(f float64) (number, error) {
	switch {
	case math.IsNaN(f):
		return number{}, errors.New("there is no real result")
	case math.IsInf(f, 0):
		return number{}, errors.New("the result is infinite or beyond the range of rounded numbers")
	default:
		return number{new(big.Rat).SetFloat64(f), false}, nil
	}
}
