package tool

import (
	"errors"
	"maps"
	"math"
	"math/big"
	"slices"
	"strings"
)

// A function takes at least least and at most most arguments; most 0 means
// any number.
type function struct {
	least, most int
	call        func(args []number) (number, error)
}

var functions = map[string]function{
	"abs":   {1, 1, func(a []number) (number, error) { return number{new(big.Rat).Abs(a[0].r), a[0].exact}, nil }},
	"floor": whole(floor),
	"ceil":  whole(ceil),
	"trunc": whole(func(r *big.Rat) *big.Int { return new(big.Int).Quo(r.Num(), r.Denom()) }),
	"round": {1, 2, round},
	"min":   {1, 0, func(a []number) (number, error) { return slices.MinFunc(a, compare), nil }},
	"max":   {1, 0, func(a []number) (number, error) { return slices.MaxFunc(a, compare), nil }},
	"gcd":   {2, 2, gcd},
	"sqrt":  {1, 1, sqrt},
	"ln":    {1, 1, func(a []number) (number, error) { return naturalLog(a[0]) }},
	"log":   {1, 2, logarithm},
	"log2":  {1, 1, func(a []number) (number, error) { return logarithm([]number{a[0], exactly(2)}) }},
	"exp":   rounded(math.Exp),
	"cbrt":  rounded(math.Cbrt),
	"sin":   rounded(math.Sin),
	"cos":   rounded(math.Cos),
	"tan":   rounded(math.Tan),
	"asin":  rounded(math.Asin),
	"acos":  rounded(math.Acos),
	"atan":  rounded(math.Atan),
	"deg":   rounded(func(x float64) float64 { return x * 180 / math.Pi }),
	"rad":   rounded(func(x float64) float64 { return x * math.Pi / 180 }),
}

// The constants, to 50 digits.
var constants = map[string]*big.Rat{
	"pi":  mustRat("3.1415926535897932384626433832795028841971693993751"),
	"tau": mustRat("6.2831853071795864769252867665590057683943387987502"),
	"e":   mustRat("2.7182818284590452353602874713526624977572470936999"),
}

func mustRat(digits string) *big.Rat {
	r, ok := new(big.Rat).SetString(digits)
	if !ok {
		panic("not a number: " + digits)
	}
	return r
}

// names lists the functions and constants of an expression.
func names() string {
	list := slices.Sorted(maps.Keys(functions))
	return strings.Join(append(list, slices.Sorted(maps.Keys(constants))...), ", ")
}

// rounded adapts a float64 function to values.
func rounded(f func(float64) float64) function {
	return function{1, 1, func(a []number) (number, error) { return fromFloat(f(float(a[0]))) }}
}

// whole adapts a function with whole results to values.
func whole(f func(*big.Rat) *big.Int) function {
	return function{1, 1, func(a []number) (number, error) { return number{new(big.Rat).SetInt(f(a[0].r)), a[0].exact}, nil }}
}

func exactly(n int64) number { return number{big.NewRat(n, 1), true} }

func compare(a, b number) int { return a.r.Cmp(b.r) }

// floor returns the largest integer ≤ r.
func floor(r *big.Rat) *big.Int {
	return new(big.Int).Div(r.Num(), r.Denom()) // Euclid's; Denom > 0 makes it the floor
}

// ceil returns the smallest integer ≥ r.
func ceil(r *big.Rat) *big.Int {
	n := floor(new(big.Rat).Neg(r))
	return n.Neg(n)
}

// round rounds to the given number of decimals, half away from zero.
func round(a []number) (number, error) {
	scale := big.NewRat(1, 1)
	if len(a) == 2 {
		ten, err := power(exactly(10), a[1])
		if err != nil || !a[1].r.IsInt() {
			return number{}, errors.New("the number of decimals must be a whole number, and not huge")
		}
		scale = ten.r
	}
	scaled := new(big.Rat).Mul(new(big.Rat).Abs(a[0].r), scale)
	r := new(big.Rat).SetInt(floor(scaled.Add(scaled, big.NewRat(1, 2))))
	r.Quo(r, scale)
	if a[0].r.Sign() < 0 {
		r.Neg(r)
	}
	return number{r, a[0].exact}, nil
}

func gcd(a []number) (number, error) {
	if !a[0].r.IsInt() || !a[1].r.IsInt() {
		return number{}, errors.New("gcd needs whole numbers")
	}
	x, y := new(big.Int).Abs(a[0].r.Num()), new(big.Int).Abs(a[1].r.Num())
	return number{new(big.Rat).SetInt(x.GCD(nil, nil, x, y)), a[0].exact && a[1].exact}, nil
}

// sqrt is exact for squares of fractions.
func sqrt(a []number) (number, error) {
	r := a[0].r
	if r.Sign() < 0 {
		return number{}, errors.New("there is no real result")
	}
	num, denom := new(big.Int).Sqrt(r.Num()), new(big.Int).Sqrt(r.Denom())
	root := new(big.Rat).SetFrac(num, denom)
	if new(big.Rat).Mul(root, root).Cmp(r) == 0 {
		return number{root, a[0].exact}, nil
	}
	f := new(big.Float).SetPrec(128).SetRat(r)
	root, _ = f.Sqrt(f).Rat(nil)
	return number{root, false}, nil
}

// naturalLog splits off the binary exponent, so that numbers beyond the range
// of float64 have a logarithm as well.
func naturalLog(v number) (number, error) {
	if v.r.Sign() <= 0 {
		return number{}, errors.New("a logarithm needs a number above zero")
	}
	mantissa := new(big.Float)
	exponent := new(big.Float).SetPrec(64).SetRat(v.r).MantExp(mantissa)
	m, _ := mantissa.Float64()
	if exponent == 1 || exponent == 0 {
		// Near 1 the sum below would cancel, and so would the digits of v itself.
		above, _ := new(big.Rat).Sub(v.r, big.NewRat(1, 1)).Float64()
		return fromFloat(math.Log1p(above))
	}
	return fromFloat(math.Log(m) + float64(exponent)*math.Ln2)
}

// logarithm takes the logarithm to base 10 or a[1]. It is exact where the
// first argument is a whole power of the base.
func logarithm(a []number) (number, error) {
	base := exactly(10)
	if len(a) == 2 {
		base = a[1]
	}
	x, err := naturalLog(a[0])
	if err != nil {
		return number{}, err
	}
	b, err := naturalLog(base)
	if err != nil {
		return number{}, err
	}
	if b.r.Sign() == 0 {
		return number{}, errDivision
	}
	guess, err := round([]number{{new(big.Rat).Quo(x.r, b.r), true}})
	if err != nil {
		return number{}, err
	}
	if p, err := power(base, guess); err == nil && p.r.Cmp(a[0].r) == 0 {
		return number{guess.r, a[0].exact && base.exact}, nil
	}
	return fromFloat(float(x) / float(b))
}

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
