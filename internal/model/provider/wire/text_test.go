package wire_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"chela/internal/model/provider/wire"
)

// FuzzAppendString compares with encoding/json.
func FuzzAppendString(f *testing.F) {
	for c := range 256 {
		f.Add("text " + string([]byte{byte(c)}) + " and more text")
	}
	for _, s := range []string{"", `"`, `\\\\\\\\`, "12345678", "1234567\"", "\n\n\n\n\n\n\n\n\n", "\u2028é𝄞日本語", "\xe2\x80", "\xff\xff", "\xed\xa0\xbd", "\xf4\x90\x80\x80", "é\xc3"} {
		f.Add(s)
		f.Add(strings.Repeat("plain", 3) + s + s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := wire.AppendString([]byte("before"), s)
		if other := wire.AppendString([]byte("before"), []byte(s)); string(other) != string(got) {
			t.Errorf("a string is written as %s, its bytes as %s", got, other)
		}
		written, kept := strings.CutPrefix(string(got), "before")
		if !kept || !utf8.ValidString(written) {
			t.Fatalf("%q is no UTF-8 behind what was there before", got)
		}
		coded, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		var want, back string
		if json.Unmarshal(coded, &want) != nil || json.Unmarshal([]byte(written), &back) != nil || back != want {
			t.Errorf("%q is written as %s, which reads %q, want %q", s, written, back, want)
		}
	})
}
