package file

import (
	"errors"
	"strconv"
	"strings"

	"chela/internal/platform/lazyregexp"
)

// parseLoose reads a diff line by line and ignores its counts. It also reads
// the form that begins with *** Begin Patch, which some models prefer.
func parseLoose(text string) ([]File, error) {
	p := looseParser{lines: strings.Split(text, "\n")}
	for p.at < len(p.lines) {
		if err := p.line(); err != nil {
			return nil, err
		}
	}
	p.endFile()
	return p.files, nil
}

type looseParser struct {
	lines []string
	at    int

	files []File
	file  *File // the current one
	hunk  *Hunk // the current one
	named bool  // file has its paths from --- and +++
}

var hunkHeader = lazyregexp.New(`^@@+ *-(\d+)(?:,\d+)? +\+\d+(?:,\d+)? *@@+ *(.*)$`)

// line reads the next line, or two if they belong together.
func (p *looseParser) line() error {
	line := p.lines[p.at]
	switch {
	case p.beginsFile():
		p.paths(headerPath(line, "--- "), headerPath(p.lines[p.at+1], "+++ "))
		p.at++
	case strings.HasPrefix(line, "diff --git "):
		p.begin("", "")
		p.gitPaths(strings.TrimPrefix(line, "diff --git "))
	case strings.HasPrefix(line, "*** "):
		if err := p.starred(strings.TrimPrefix(line, "*** ")); err != nil {
			return err
		}
	case strings.HasPrefix(line, "@@") && p.file != nil:
		p.beginHunk(line)
	case p.hunk != nil:
		p.body(line)
	case p.file != nil:
		if err := p.extended(line); err != nil {
			return err
		}
	case strings.HasPrefix(line, "@@"):
		return errors.New("the patch does not say which file it is for; begin with --- path and +++ path")
	}
	p.at++
	return nil
}

// beginsFile reports whether the next two lines are --- and +++. Within a hunk
// they could also be a removed and an added line, so @@ must follow.
func (p *looseParser) beginsFile() bool {
	if !strings.HasPrefix(p.lines[p.at], "--- ") || p.at+1 >= len(p.lines) || !strings.HasPrefix(p.lines[p.at+1], "+++ ") {
		return false
	}
	return p.hunk == nil || p.at+2 < len(p.lines) && strings.HasPrefix(p.lines[p.at+2], "@@")
}

// headerPath returns the path of a --- or +++ line, without the time that diff
// appends; empty for /dev/null.
func headerPath(line, prefix string) string {
	path, _, _ := strings.Cut(strings.TrimPrefix(line, prefix), "\t")
	path = strings.TrimSpace(path)
	if unquoted, err := strconv.Unquote(path); err == nil {
		path = unquoted
	}
	if path == "/dev/null" {
		return ""
	}
	return path
}

// begin begins the part for one file.
func (p *looseParser) begin(old, new string) {
	p.endFile()
	p.file = &File{Old: old, New: new}
}

func (p *looseParser) paths(old, new string) {
	if p.file == nil || p.named || p.hunk != nil {
		p.begin("", "")
	}
	p.file.Old, p.file.New = trimPrefixes(old, new)
	p.named = true
}

// gitPaths reads "a/x b/x"; if the two paths differ, other header lines carry
// them.
func (p *looseParser) gitPaths(text string) {
	half := len(text) / 2
	if len(text)%2 == 1 && text[half] == ' ' {
		old, new := trimPrefixes(text[:half], text[half+1:])
		if old == new {
			p.file.Old, p.file.New = old, new
		}
	}
}

// extended reads a line between diff --git and the first hunk.
func (p *looseParser) extended(line string) error {
	switch {
	case strings.HasPrefix(line, "rename from "):
		p.file.Old = headerPath(line, "rename from ")
	case strings.HasPrefix(line, "rename to "):
		p.file.New = headerPath(line, "rename to ")
	case strings.HasPrefix(line, "new file mode"):
		p.file.Old = ""
	case strings.HasPrefix(line, "deleted file mode"):
		p.file.New = ""
	case strings.HasPrefix(line, "copy from "):
		return errors.New("a patch cannot copy files")
	case strings.HasPrefix(line, "GIT binary patch"), strings.HasPrefix(line, "Binary files "):
		return errBinary
	case line != "" && strings.ContainsRune("+- ", rune(line[0])):
		p.hunk = &Hunk{} // the @@ was left out
		p.body(line)
	}
	return nil
}

// starred reads a line of the form *** Update File: path.
func (p *looseParser) starred(line string) error {
	what, path, _ := strings.Cut(line, ": ")
	path = strings.TrimSpace(path)
	switch what {
	case "Update File":
		p.begin(path, path)
	case "Add File":
		p.begin("", path)
	case "Delete File":
		p.begin(path, "")
	case "Move to":
		if p.file == nil {
			return errors.New("*** Move to comes before any *** Update File")
		}
		p.file.New = path
	case "End Patch":
		p.endFile()
	}
	return nil // Begin Patch and End of File carry no information
}

func (p *looseParser) beginHunk(line string) {
	p.endHunk()
	p.hunk = &Hunk{}
	if m := hunkHeader().FindStringSubmatch(line); m != nil {
		if n, err := strconv.Atoi(m[1]); err == nil {
			p.hunk.Start = n
		}
		p.hunk.Hint = strings.TrimSpace(m[2])
		return
	}
	hint := strings.TrimSpace(strings.Trim(line, "@ "))
	if strings.Trim(hint, ".…-+, 0123456789") != "" {
		p.hunk.Hint = hint
	}
}

// body reads a line of a hunk. A line without a mark is taken as context whose
// leading space is missing.
func (p *looseParser) body(line string) {
	h := p.hunk
	switch {
	case strings.HasPrefix(line, `\`):
		if n := len(h.Lines); n > 0 {
			h.Lines[n-1].NoEnd = true
		}
	case strings.HasPrefix(line, "```"):
		p.endHunk()
	case line == "":
		h.Lines = append(h.Lines, Line{Op: ' '})
	case strings.ContainsRune("+- ", rune(line[0])):
		h.Lines = append(h.Lines, Line{Op: line[0], Text: line[1:]})
	default:
		h.Lines = append(h.Lines, Line{Op: ' ', Text: line})
	}
}

// endHunk adds the hunk to its file. Empty lines at its end are separators
// between hunks more often than context; git writes empty context lines with a
// space.
func (p *looseParser) endHunk() {
	if p.hunk == nil {
		return
	}
	h := *p.hunk
	p.hunk = nil
	for n := len(h.Lines); n > 0 && h.Lines[n-1] == (Line{Op: ' '}); n-- {
		h.Lines = h.Lines[:n-1]
	}
	if len(h.Lines) > 0 {
		p.file.Hunks = append(p.file.Hunks, h)
	}
}

func (p *looseParser) endFile() {
	p.endHunk()
	if p.file != nil {
		p.files = append(p.files, *p.file)
	}
	p.file, p.named = nil, false
}
