package drive

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

// A told frame is one whose data is kept.
type told struct{ ID, Event, Data string }

func readFrames(r io.Reader) (all []told, err error) {
	for f, err := range frames(r) {
		if err != nil {
			return all, err
		}
		all = append(all, told{f.id, f.event, string(f.data)})
	}
	return all, nil
}

func TestFrames(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, text string
		want       []told
		err        error
	}{
		{name: "nothing"},
		{name: "one", text: "id: 1\nevent: a\ndata: x\n\n", want: []told{{"1", "a", "x"}}},
		{name: "without spaces", text: "data:x\n\n", want: []told{{"", "", "x"}}},
		{name: "carriage returns", text: "data: x\r\n\r\ndata: y\r\n\r\n", want: []told{{"", "", "x"}, {"", "", "y"}}},
		{name: "lines", text: "data: x\ndata: y\n\n", want: []told{{"", "", "x\ny"}}},
		{name: "an id does not linger", text: "id: 1\ndata: x\n\ndata: y\n\n", want: []told{{"1", "", "x"}, {"", "", "y"}}},
		{name: "comments", text: ": alive\n\n: again\n\ndata: x\n\n", want: []told{{"", "", "x"}}},
		{name: "empty lines", text: "\n\n\ndata: x\n\n\n", want: []told{{"", "", "x"}}},
		{name: "a colon in data", text: "data: a: b\n\n", want: []told{{"", "", "a: b"}}},
		{name: "cut between lines", text: "data: x\n\nid: 2\n", want: []told{{"", "", "x"}}, err: io.ErrUnexpectedEOF},
		{name: "cut in a line", text: "data: x\n\ndata: y", want: []told{{"", "", "x"}}, err: io.ErrUnexpectedEOF},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for name, r := range map[string]io.Reader{
				"whole": strings.NewReader(tt.text), "byte by byte": iotest.OneByteReader(strings.NewReader(tt.text)),
			} {
				got, err := readFrames(r)
				if diff := cmp.Diff(tt.want, got); diff != "" || !errors.Is(err, tt.err) {
					t.Errorf("%s: error %v, frames (-want +got):\n%s", name, err, diff)
				}
			}
		})
	}
}

func TestFramesOfTooLongLine(t *testing.T) {
	t.Parallel()
	if _, err := readFrames(strings.NewReader("data: " + strings.Repeat("x", maxLine) + "\n\n")); err == nil {
		t.Error("a line that is too long was read")
	}
}

// FuzzFrames shows that how a stream is cut into reads changes nothing, and
// that nothing makes a frame out of nothing.
func FuzzFrames(f *testing.F) {
	f.Add("id: 1\nevent: a\ndata: x\ndata: y\n\n: c\n\ndata")
	f.Add("\r\n\ndata:\x00\n\n")
	f.Fuzz(func(t *testing.T, text string) {
		whole, wholeErr := readFrames(strings.NewReader(text))
		bits, bitsErr := readFrames(iotest.OneByteReader(strings.NewReader(text)))
		if diff := cmp.Diff(whole, bits); diff != "" || (wholeErr == nil) != (bitsErr == nil) {
			t.Errorf("errors %v and %v, frames (-at once +byte by byte):\n%s", wholeErr, bitsErr, diff)
		}
		if len(whole) > strings.Count(text, "\n") {
			t.Errorf("%d frames in %q", len(whole), text)
		}
	})
}
