package tool_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"chela/internal/tool"
)

func TestEval(t *testing.T) {
	t.Parallel()
	exact := func(text string) tool.CalcResult { return tool.CalcResult{Text: text, Exact: true} }
	rounded := func(text string) tool.CalcResult { return tool.CalcResult{Text: text} }
	tests := []struct {
		expr string
		want tool.CalcResult
	}{
		{"1 + 2 * 3", exact("7")},
		{"0.1 + 0.2", exact("0.3")},
		{"(1 + 2) * 3", exact("9")},
		{"2 - 3 - 4", exact("-5")},
		{"100 / 8 / 2", exact("6.25")},
		{"2 ^ 3 ^ 2", exact("512")},
		{"2 ** 10", exact("1024")},
		{"-2 ^ 2", exact("-4")},
		{"2 ^ -2", exact("0.25")},
		{"-2 * -3", exact("6")},
		{"2 * - 3 ^ 2", exact("-18")},
		{"7 % 3", exact("1")},
		{"-7 % 3", exact("2")},
		{"7.5 % -2", exact("-0.5")},
		{"5!", exact("120")},
		{"2^3!", exact("64")},
		{"0^0", exact("1")},
		{"0^5", exact("0")},
		{"(-1)^1000000000001", exact("-1")},
		{"1^99999999999999999999", exact("1")},
		{"1_000 × 3 ÷ 4 − 1", exact("749")},
		{"1.5e3", exact("1500")},
		{"1e-3", exact("0.001")},
		{".5", exact("0.5")},
		{"5.", exact("5")},
		{"1/3", tool.CalcResult{Text: "0.333333333333333333333333333333", Ratio: "1/3"}},
		{"1/3*3", exact("1")},
		{"2^100", exact("1267650600228229401496703205376")},
		{"sqrt(16/25)", exact("0.8")},
		{"sqrt(2)", rounded("1.4142135623731")},
		{"sqrt(2)^2", rounded("2")},
		{"8^(1/3)", rounded("2")},
		{"abs(-2.5)", exact("2.5")},
		{"min(3, 1, 2)", exact("1")},
		{"max(1/2, 0.6)", exact("0.6")},
		{"round(2.5) + round(-2.5)", exact("0")},
		{"round(2.345, 2)", exact("2.35")},
		{"round(1234, -2)", exact("1200")},
		{"floor(-1.5)", exact("-2")},
		{"ceil(-1.5)", exact("-1")},
		{"trunc(-1.5)", exact("-1")},
		{"gcd(12, -18)", exact("6")},
		{"log(1000)", exact("3")},
		{"log(8, 2)", exact("3")},
		{"log2(1/1024)", exact("-10")},
		{"log(2)", rounded("0.301029995663981")},
		{"ln(e)", rounded("1")},
		{"ln(2^10000)", rounded("6931.47180559945")},
		{"ln(1.0000001)", rounded("9.99999950000003e-08")},
		{"exp(1) - e", rounded("-1.44564689172925e-16")},
		{"cbrt(-27)", rounded("-3")},
		{"SIN(pi/2)", rounded("1")},
		{"sin(rad(30))", rounded("0.5")},
		{"π", rounded("3.14159265358979")},
		{"tau/2 - pi", rounded("0")},
	}
	for _, tt := range tests {
		t.Run(tt.expr, func(t *testing.T) {
			t.Parallel()
			got, err := tool.Eval(tt.expr)
			if err != nil {
				t.Fatalf("Eval(%q): %v", tt.expr, err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("Eval(%q) (-want +got)\n%s", tt.expr, diff)
			}
		})
	}
}

func TestEvalRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, expr, want string }{
		{"empty", "", "ends where a number is expected"},
		{"cut off", "1 +", "ends where a number is expected"},
		{"two numbers", "1 2", `unexpected "2" at 3, expected an operator`},
		{"open", "(1", `ends where ")" is expected`},
		{"close", "1)", `unexpected ")" at 2`},
		{"symbol", "1 & 2", `character '&' at 3`},
		{"dot", ".", "has no digits"},
		{"exponent without digits", "2e", `unexpected "e"`},
		{"name", "foo(1)", `no function or constant "foo"`},
		{"function without call", "sqrt", `ends where "(" is expected`},
		{"too few", "gcd(1)", "wrong number of arguments"},
		{"too many", "sqrt(1, 2)", "wrong number of arguments"},
		{"division", "1 / (2 - 2)", `"/" at 3: division by zero`},
		{"modulo", "1 % 0", "division by zero"},
		{"negative power of zero", "0^-1", "division by zero"},
		{"root of negative", "sqrt(-1)", "no real result"},
		{"odd root of negative", "(-8)^(1/3)", "no real result"},
		{"log of zero", "ln(0)", "above zero"},
		{"log base one", "log(5, 1)", "division by zero"},
		{"float overflow", "exp(1000)", "infinite"},
		{"factorial of fraction", "1.5!", "whole number"},
		{"huge power", "2^1000000000", "too large"},
		{"huge power of power", "9^9^9^9", "too large"},
		{"huge negative power", "3^-1000000000", "too large"},
		{"huge exponent", "1e1000000000", "too large"},
		{"huge exponent beyond int", "1e99999999999999999999", "too large"},
		{"huge factorial", "100000!", "too large"},
		{"factorial of factorial", "1000!!", "too large"},
		{"huge decimals", "round(1, 1000000000)", "huge"},
		{"product", strings.Repeat("9^6000*", 4) + "1", "too large"},
		{"deep", strings.Repeat("(", 200) + "1", "nested more than 100 deep"},
		{"deep signs", strings.Repeat("-", 200) + "1", "nested more than 100 deep"},
		{"long", strings.Repeat("1+", 3000) + "1", "4096 are allowed"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			began := time.Now()
			got, err := tool.Eval(tt.expr)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Eval(%.40q) = %.40v, %v; want an error with %q", tt.expr, got, err, tt.want)
			}
			if took := time.Since(began); took > time.Second {
				t.Errorf("Eval(%.40q) took %s", tt.expr, took)
			}
		})
	}
}

func FuzzEval(f *testing.F) {
	for _, s := range []string{"1+2*3", "sqrt(2)^-3!", "log(1e10, 3) % 7", "round(1/3, 5)", "((((1", "9^9^9", "1e5999*1e5999", "π−·÷"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, expr string) {
		began := time.Now()
		got, err := tool.Eval(expr)
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("Eval(%q) took %s", expr, took)
		}
		if err == nil && got.Text == "" {
			t.Errorf("Eval(%q) returned nothing", expr)
		}
		if err == nil && got.Exact && len(got.Text) < tool.MaxExpression {
			again, err := tool.Eval(got.Text)
			if err != nil {
				t.Errorf("Eval(%q) = %q, which cannot be read back: %v", expr, got.Text, err)
			} else if again.Text != got.Text {
				t.Errorf("Eval(%q) = %q, which reads back as %q", expr, got.Text, again.Text)
			}
		}
	})
}
