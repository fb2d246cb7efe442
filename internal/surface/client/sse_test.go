package client_test

import (
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"chela/internal/surface/client"
)

func TestDecode(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		in   string
		want []client.Message
	}{
		{"nothing", "", nil},
		{"one", "id: 1\nevent: text.delta\ndata: hello\n\n", []client.Message{{"1", "text.delta", "hello"}}},
		{"no space", "data:hello\n\n", []client.Message{{Text: "hello"}}},
		{"one space is taken", "data:  hello\n\n", []client.Message{{Text: " hello"}}},
		{"lines", "data: a\ndata\ndata: b\n\n", []client.Message{{Text: "a\n\nb"}}},
		{"an id stays", "id: 1\ndata: a\n\ndata: b\n\n", []client.Message{{ID: "1", Text: "a"}, {ID: "1", Text: "b"}}},
		{"an id alone", "id: 7\n\ndata: a\n\n", []client.Message{{ID: "7"}, {ID: "7", Text: "a"}}},
		{"an id is emptied", "id: 7\ndata: a\n\nid\ndata: b\n\n", []client.Message{{ID: "7", Text: "a"}, {Text: "b"}}},
		{"an id with NUL", "id: 7\x00\ndata: a\n\n", []client.Message{{Text: "a"}}},
		{"comments", ": hello\n\n:\ndata: a\n: b\n\n", []client.Message{{Text: "a"}}},
		{"a name without content", "event: a\n\ndata: b\n\n", []client.Message{{Text: "b"}}},
		{"unknown fields", "retry: 5\nfoo: bar\ndata: a\n\n", []client.Message{{Text: "a"}}},
		{"all line ends", "data: a\r\ndata: b\rdata: c\n\r\ndata: d\r\r", []client.Message{{Text: "a\nb\nc"}, {Text: "d"}}},
		{"a mark of byte order", "\ufeffdata: a\n\n", []client.Message{{Text: "a"}}},
		{"cut in a line", "data: a\n\ndata: b", []client.Message{{Text: "a"}}},
		{"cut in a message", "data: a\n\ndata: b\n", []client.Message{{Text: "a"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := client.Decode(strings.NewReader(tt.in))
			if !errors.Is(err, io.EOF) {
				t.Errorf("ended with %v, want the end of the stream", err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("messages (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDecodeIsBounded(t *testing.T) {
	t.Parallel()
	line := "data: " + strings.Repeat("x", client.MaxMessage/2) + "\n"
	for name, in := range map[string]io.Reader{
		"a line":    io.MultiReader(strings.NewReader(line[:len(line)-1]), strings.NewReader(line[:len(line)-1]), strings.NewReader("\n\n")),
		"a message": strings.NewReader(line + line + "\n"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := client.Decode(in)
			if len(got) != 0 || err == nil || errors.Is(err, io.EOF) {
				t.Errorf("got %d messages and %v, want a message that is too long", len(got), err)
			}
		})
	}
}

func TestDecodeReportsTheReader(t *testing.T) {
	t.Parallel()
	got, err := client.Decode(io.MultiReader(strings.NewReader("data: a\n\ndata: b\n"), iotest.ErrReader(io.ErrClosedPipe)))
	if len(got) != 1 || !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("got %v and %v, want one message and the error of the reader", got, err)
	}
}

// lineEnd is how the standard writes lines.
var lineEnd = regexp.MustCompile("\r\n|\r|\n")

// plainDecode is what the standard says, without bounds, of a stream that is
// there as a whole.
func plainDecode(in string) (all []client.Message) {
	lines := lineEnd.Split(strings.TrimPrefix(in, "\ufeff"), -1)
	var m client.Message
	var text []string
	told := false
	for _, line := range lines[:len(lines)-1] {
		field, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case line == "":
			if m.Text = strings.Join(text, "\n"); told {
				all = append(all, m)
			}
			m, text, told = client.Message{ID: m.ID}, nil, false
		case field == "data":
			text, told = append(text, value), true
		case field == "id" && !strings.Contains(value, "\x00"):
			m.ID, told = value, true
		case field == "event":
			m.Name = value
		}
	}
	return all
}

func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		"", "id: 1\nevent: a\ndata: {}\n\n", "data\r\n\r\ndata: b\r\r", ":\n\n", "\ufeffid\n\n", "data: a\ndata:b\n\nid: 2\n\n", "\r\n\r\n\n\r",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) {
		if len(in) > 4<<10 {
			t.Skip("byte by byte takes the square of that")
		}
		want := plainDecode(in)
		for name, r := range map[string]io.Reader{
			"whole": strings.NewReader(in), "byte by byte": iotest.OneByteReader(strings.NewReader(in)),
		} {
			got, err := client.Decode(r)
			if !errors.Is(err, io.EOF) {
				t.Fatalf("%s: ended with %v, want the end of the stream", name, err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("%s: messages (-want +got):\n%s", name, diff)
			}
		}
	})
}
