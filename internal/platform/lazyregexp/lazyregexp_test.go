package lazyregexp_test

import (
	"testing"

	"chela/internal/platform/lazyregexp"
)

func TestNew(t *testing.T) {
	t.Parallel()
	vowel := lazyregexp.New(`[aeiou]`)
	if !vowel().MatchString("a") || vowel().MatchString("b") {
		t.Error("it does not match like the expression")
	}
	defer func() {
		if recover() == nil {
			t.Error("a faulty expression was accepted")
		}
	}()
	lazyregexp.New(`(`)
}
