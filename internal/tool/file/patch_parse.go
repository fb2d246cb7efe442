package file

// This part of the package reads unified diffs as models write them and applies
// them to text. A diff is parsed strictly first. If that fails, the usual slips
// are tolerated: wrong line numbers and counts, a bare @@, a missing space
// before context, code fences around it, trailing blanks, one wrong
// indentation. A hunk is applied only if it fits in exactly one way; everything
// else is refused with the nearest place shown.

import (
	"errors"
	"fmt"
	"strings"

	"github.com/bluekeyes/go-gitdiff/gitdiff"
)

// MaxSize is the largest diff that is read, in bytes.
const MaxSize = 1 << 20

// A File is the part of a diff for one file.
type File struct {
	Old   string // empty for a new file
	New   string // empty for a deleted file; differs from Old for a moved one
	Hunks []Hunk
}

// A Hunk is one change within a file.
type Hunk struct {
	Start int    // first line of the old part, from 1; 0 if the diff has none
	Hint  string // text after @@: a line that precedes the hunk
	Lines []Line
}

// A Line is one line of a hunk.
type Line struct {
	Op    byte   // ' ' (in both), '-' (old) or '+' (new)
	Text  string // without line end
	NoEnd bool   // marked as having no line end
}

// Parse reads a diff of one or more files. Its error is written for the author
// of the diff.
func Parse(text string) ([]File, error) {
	if len(text) > MaxSize {
		return nil, fmt.Errorf("the patch has %d bytes, %d are allowed", len(text), MaxSize)
	}
	text = strings.TrimPrefix(text, "\uFEFF")
	if strings.Count(text, "\r\n") == strings.Count(text, "\n") {
		text = strings.ReplaceAll(text, "\r\n", "\n")
	}
	files, err := parseLoose(text)
	if err != nil {
		return nil, err
	}
	// The strict parser knows best where a hunk ends, but skips lines that a
	// wrong count leaves outside. It also accepts one path for both.
	strict, err := parseStrict(text)
	if err == nil && len(strict) == len(files) && changedLines(strict) == changedLines(files) {
		for i := range files {
			files[i].Hunks = strict[i].Hunks
		}
	}
	return files, check(files)
}

// changedLines counts the lines that files add and remove.
func changedLines(files []File) int {
	n := 0
	for _, f := range files {
		for _, h := range f.Hunks {
			for _, l := range h.Lines {
				if l.Op != ' ' {
					n++
				}
			}
		}
	}
	return n
}

func check(files []File) error {
	if len(files) == 0 {
		return errors.New("there is no diff in the patch; begin each file with --- path and +++ path, and each place with @@")
	}
	for _, f := range files {
		if f.Old == "" && f.New == "" {
			return errors.New("a file of the patch has no path; begin it with --- path and +++ path")
		}
		if f.Old == f.New && len(f.Hunks) == 0 {
			return fmt.Errorf("the patch changes nothing in %s", f.New)
		}
		for i, h := range f.Hunks {
			if changedLines([]File{{Hunks: []Hunk{h}}}) == 0 {
				return fmt.Errorf("hunk %d of %s changes nothing: no line begins with + or -", i+1, f.name())
			}
		}
	}
	return nil
}

// name returns the path of the file for messages.
func (f File) name() string {
	if f.New == "" {
		return f.Old
	}
	return f.New
}

// parseStrict reads the hunks of what git and diff write.
func parseStrict(text string) ([]File, error) {
	parsed, _, err := gitdiff.Parse(strings.NewReader(text))
	if err != nil {
		return nil, err
	}
	var files []File
	for _, p := range parsed {
		var f File
		for _, t := range p.TextFragments {
			f.Hunks = append(f.Hunks, strictHunk(t))
		}
		files = append(files, f)
	}
	return files, nil
}

var errBinary = errors.New("a patch cannot hold binary content; use write_file for text files")

func strictHunk(t *gitdiff.TextFragment) Hunk {
	h := Hunk{Start: int(t.OldPosition), Hint: strings.TrimSpace(t.Comment)}
	for _, l := range t.Lines {
		op := byte(' ')
		switch l.Op {
		case gitdiff.OpAdd:
			op = '+'
		case gitdiff.OpDelete:
			op = '-'
		}
		h.Lines = append(h.Lines, Line{Op: op, Text: strings.TrimSuffix(l.Line, "\n"), NoEnd: l.NoEOL()})
	}
	return h
}

// trimPrefixes strips a/ and b/ off the two paths of a file, which may be
// empty.
func trimPrefixes(old, new string) (string, string) {
	oldRest, oldHas := strings.CutPrefix(old, "a/")
	newRest, newHas := strings.CutPrefix(new, "b/")
	if (oldHas || old == "") && (newHas || new == "") {
		return oldRest, newRest
	}
	return old, new
}
