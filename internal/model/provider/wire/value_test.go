package wire_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"chela/internal/model/provider/wire"
)

// FuzzValue compares with encoding/json: all members of all objects and all
// items of all lists are found, and strings read alike.
func FuzzValue(f *testing.F) {
	for _, raw := range []string{
		"", "null", " {} ", "[]", `{"a":[1,-2.5e3 , true,null,"x"],"b" : {"c":[[],{}]},"":"]}\"\\"}`, "{\r\n\t\"a\" :\t1\n,\n\"a\":2}",
		`{"a":"\ud83d\ude00 \ud83d \u2028\/\b"}`, "{\"a\xff\":\"\xff\xfe\"}", `{"\u0061":"\\"}`, `{"a":1}}`, `{"a":"\\\"","b":[{"c":"}"}]}`,
	} {
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		v, ok := wire.Object([]byte(raw))
		var members map[string]json.RawMessage
		if isObject := json.Unmarshal([]byte(raw), &members) == nil; ok != isObject {
			t.Fatalf("%q is taken for an object: %t, want %t", raw, ok, isObject)
		}
		var want any
		if !ok || json.Unmarshal([]byte(raw), &want) != nil { // a number may be too large
			return
		}
		if diff := cmp.Diff(want, plain(t, v)); diff != "" {
			t.Errorf("%q (-want +got)\n%s", raw, diff)
		}
	})
}

// plain returns a value as encoding/json has it.
func plain(t *testing.T, v wire.Value) any {
	t.Helper()
	switch v[0] {
	case '{':
		m := map[string]any{}
		for name, member := range v.Members() {
			m[wire.Value(`"`+name+`"`).Text()] = plain(t, member)
		}
		return m
	case '[':
		list := []any{}
		for item := range v.Items() {
			list = append(list, plain(t, item))
		}
		return list
	case '"':
		return v.Text()
	}
	var scalar any
	if err := json.Unmarshal(v, &scalar); err != nil {
		t.Fatalf("%q: %v", v, err)
	}
	return scalar
}

func TestValueInt(t *testing.T) {
	t.Parallel()
	const most, least = 1<<63 - 1, -1 << 63
	tests := map[string]int64{
		"": 0, "null": 0, "7": 7, "-7": -7, `"7"`: 7, "7.0": 7, "2.7": 2, "1e3": 1000, `"x"`: 0, `"NaN"`: 0, "true": 0, "[2]": 0, "{}": 0,
		"1e99": most, "-1e99": least, "1e999": most, "99999999999999999999": most, "9223372036854775807": most,
	}
	for raw, want := range tests {
		if got := wire.Value(raw).Int(); got != want {
			t.Errorf("%s is %d, want %d", raw, got, want)
		}
	}
}
