package wire_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"chela/internal/model/provider/wire"
)

func TestEvents(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 20_000)
	tests := []struct {
		name, body string
		want       []string
	}{
		{"none", "", nil},
		{"two", "data: a\n\ndata:b\n\n", []string{"a", "b"}},
		{"windows lines", "data: a\r\n\r\ndata: b\r\n\r\n", []string{"a", "b"}},
		{"byte order mark", "\xef\xbb\xbfdata: a\n\n", []string{"a"}},
		{"names, ids and comments", ": hi\nevent: x\nid: 1\nretry: 5\ndata: a\n\n: ping\n\n", []string{"a"}},
		{"several lines", "data: a\ndata:  b\n\n", []string{"a\n b"}},
		{"empty data", "data:\n\n", []string{""}},
		{"no empty line at the end", "data: a\n\ndata: b", []string{"a", "b"}},
		{"a word that begins with data", "database: a\n\n", nil},
		{"long", "data: " + long + "\n\n", []string{long}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for data, err := range wire.Events(iotest.OneByteReader(strings.NewReader(tt.body))) {
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, string(data))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// TestEventsCut shows that a stream that breaks off tells so, and that half an
// event is none.
func TestEventsCut(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	var got []string
	var failed error
	for data, err := range wire.Events(io.MultiReader(strings.NewReader("data: a\n\ndata: b\n"), iotest.ErrReader(broken))) {
		if failed = err; err == nil {
			got = append(got, string(data))
		}
	}
	if diff := cmp.Diff([]string{"a"}, got); diff != "" || !errors.Is(failed, broken) {
		t.Errorf("got %v, %v (-want +got)\n%s", got, failed, diff)
	}
}
