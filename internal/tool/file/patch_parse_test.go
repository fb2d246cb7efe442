package file_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"chela/internal/tool/file"
)

// poem is what the tests patch: line n is the n-th word.
const poem = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n"

const indented = "func main() {\n\tif ok {\n\t\tprint(1)\n\t}\n}\n"

// apply patches content as the only file of a diff.
func apply(t *testing.T, content, diff string) (string, error) {
	t.Helper()
	files, err := file.Parse(diff)
	if err != nil {
		return "", err
	}
	if len(files) != 1 {
		t.Fatalf("the diff has %d files, want 1", len(files))
	}
	return file.Apply(content, files[0].Hunks)
}

func TestApply(t *testing.T) {
	t.Parallel()
	const head = "--- a/x\n+++ b/x\n"
	tests := []struct{ name, content, diff, want string }{
		{"strict", poem, head + "@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n", strings.Replace(poem, "two", "2", 1)},
		{"by git", poem, "diff --git a/x b/x\nindex 1..2 100644\n" + head + "@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n", strings.Replace(poem, "two", "2", 1)},
		{"two hunks", poem, head + "@@ -1,2 +1,3 @@\n one\n+1.5\n two\n@@ -7,2 +8,1 @@\n seven\n-eight\n", "one\n1.5\ntwo\nthree\nfour\nfive\nsix\nseven\n"},
		{"wrong numbers", poem, head + "@@ -40,3 +40,3 @@\n five\n-six\n+6\n seven\n", strings.Replace(poem, "six", "6", 1)},
		{"wrong counts", poem, head + "@@ -1,1 +1,9 @@\n one\n-two\n+2\n three\n", strings.Replace(poem, "two", "2", 1)},
		{"count too small drops nothing", poem, head + "@@ -1,2 +1,2 @@\n one\n-two\n+2\n-three\n+3\n", "one\n2\n3\nfour\nfive\nsix\nseven\neight\n"},
		{"bare @@", poem, head + "@@\n-two\n+2\n", strings.Replace(poem, "two", "2", 1)},
		{"@@ ... @@", poem, head + "@@ ... @@\n-two\n+2\n", strings.Replace(poem, "two", "2", 1)},
		{"no @@", poem, head + "-two\n+2\n", strings.Replace(poem, "two", "2", 1)},
		{"code fence", poem, "Here it is:\n```diff\n" + head + "@@ -2 +2 @@\n-two\n+2\n```\n", strings.Replace(poem, "two", "2", 1)},
		{"lost space before context", poem, head + "@@ -1,3 +1,3 @@\none\n-two\n+2\nthree\n", strings.Replace(poem, "two", "2", 1)},
		{"begin patch", poem, "*** Begin Patch\n*** Update File: x\n@@\n one\n-two\n+2\n*** End Patch\n", strings.Replace(poem, "two", "2", 1)},
		{"trailing blanks", poem, head + "@@ -1,2 +1,2 @@\n one  \n-two\t\n+2\n", strings.Replace(poem, "two", "2", 1)},
		{"less indentation", indented, head + "@@\n if ok {\n-\tprint(1)\n+\tprint(2)\n+\tprint(3)\n }\n", "func main() {\n\tif ok {\n\t\tprint(2)\n\t\tprint(3)\n\t}\n}\n"},
		{"more indentation", "a\n  b\nc\n", head + "@@\n-    a\n+    A\n       b\n", "A\n  b\nc\n"},
		{"hint decides", "f\n x\ng\n x\n", head + "@@ g @@\n- x\n+ y\n", "f\n x\ng\n y\n"},
		{"line number decides", "a\nb\na\nb\n", head + "@@ -3,2 +3,2 @@\n a\n-b\n+c\n", "a\nb\na\nc\n"},
		{"number of the second hunk drifts", "a\nb\na\nb\n", head + "@@ -1 +1,2 @@\n+0\n a\n@@ -3,2 +4,2 @@\n a\n-b\n+c\n", "0\na\nb\na\nc\n"},
		{"insertion by number", poem, head + "@@ -2,0 +3 @@\n+2.5\n", strings.Replace(poem, "two\n", "two\n2.5\n", 1)},
		{"new file", "", "--- /dev/null\n+++ b/x\n@@ -0,0 +1,2 @@\n+a\n+b\n", "a\nb\n"},
		{"new file without line end", "", "--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+a\n\\ No newline at end of file\n", "a"},
		{"CRLF file, LF patch", "a\r\nb\r\nc\r\n", head + "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n", "a\r\nB\r\nc\r\n"},
		{"LF file, CRLF patch", "a\nb\nc\n", strings.ReplaceAll(head+"@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n", "\n", "\r\n"), "a\nB\nc\n"},
		{"mixed line ends stay", "a\r\nb\nc\nd\n", head + "@@ -2,2 +2,2 @@\n b\n-c\n+C\n", "a\r\nb\nC\nd\n"},
		{"no line end stays", "a\nb", head + "@@ -1,2 +1,2 @@\n-a\n+A\n b\n", "A\nb"},
		{"line end added", "a\nb", head + "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n", "a\nb\n"},
		{"line end removed", "a\nb\n", head + "@@ -1,2 +1,2 @@\n a\n-b\n+b\n\\ No newline at end of file\n", "a\nb"},
		{"append behind open end", "a\nb", head + "@@ -1,2 +1,3 @@\n a\n b\n+c\n", "a\nb\nc"},
		{"blank context", "a\n\nb\n", head + "@@ -1,3 +1,3 @@\n a\n\n-b\n+c\n", "a\n\nc\n"},
		{"removed line looks like a header", "-- a\n++ b\n", head + "@@ -1,2 +1,2 @@\n--- a\n+++ c\n ++ b\n", "++ c\n++ b\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := apply(t, tt.content, tt.diff)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestApplyRefuses(t *testing.T) {
	t.Parallel()
	const head = "--- a/x\n+++ b/x\n"
	tests := []struct{ name, content, diff, want string }{
		{"nothing", poem, "just words", "there is no diff"},
		{"no file", poem, "@@ -1 +1 @@\n-one\n+1\n", "does not say which file"},
		{"no change", poem, head + "@@ -1,2 +1,2 @@\n one\n two\n", "changes nothing"},
		{"binary", poem, "diff --git a/x b/x\nBinary files a/x and b/x differ\n", "binary"},
		{"found nowhere", poem, head + "@@ -1 +1 @@\n-ten\n+10\n", "hunk 1 does not fit: none of its old lines"},
		{"found twice", "a\nb\na\nb\n", head + "@@\n a\n-b\n+c\n", "found 2 times, at lines 1, 3"},
		{"nearest place", poem, head + "@@ -1,4 +1,4 @@\n four\n-funf\n+5\n six\n seven\n", "the nearest place is line 4, where 3 of 4 old lines are alike. The file has there:\n     4\tfour\n     5\tfive"},
		{"already there", strings.Replace(poem, "two", "2", 1), head + "@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n", "seems to be there already"},
		{"two indentations", "a\n  b\n", head + "@@\n-  a\n+  A\n   b\n", "does not fit"},
		{"insertion nowhere", poem, head + "@@\n+new\n", "no lines of the file around"},
		{"second hunk above the first", poem, head + "@@ -7 +7 @@\n-seven\n+7\n@@ -1 +1 @@\n-one\n+1\n", "hunk 2 does not fit"},
		{"too large", poem, head + strings.Repeat("x", file.MaxSize), "are allowed"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := apply(t, tt.content, tt.diff)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %q, %v; want an error with %q", got, err, tt.want)
			}
		})
	}
}

func TestParsePaths(t *testing.T) {
	t.Parallel()
	type paths struct{ Old, New string }
	tests := []struct {
		name, diff string
		want       []paths
	}{
		{"plain", "--- x\n+++ x\n@@ -1 +1 @@\n-a\n+b\n", []paths{{"x", "x"}}},
		{"prefixes", "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n", []paths{{"x", "x"}}},
		{"a folder called a", "--- a/x\n+++ a/x\n@@ -1 +1 @@\n-a\n+b\n", []paths{{"a/x", "a/x"}}},
		{"times", "--- a/x\t2026-01-01 00:00:00\n+++ b/x\t2026-01-02 00:00:00\n@@ -1 +1 @@\n-a\n+b\n", []paths{{"x", "x"}}},
		{"new and gone", "--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+a\n--- a/o\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n", []paths{{"", "n"}, {"o", ""}}},
		{"rename", "diff --git a/o b/n\nsimilarity index 100%\nrename from o\nrename to n\n", []paths{{"o", "n"}}},
		{"loose rename", "diff --git a/o b/n\nrename from o\nrename to n\n@@\n-a\n+b\n", []paths{{"o", "n"}}},
		{"stars", "*** Begin Patch\n*** Add File: n\n+a\n*** Delete File: o\n*** Update File: x\n*** Move to: y\n@@\n-a\n+b\n*** End Patch", []paths{{"", "n"}, {"o", ""}, {"x", "y"}}},
		{"workspace", "--- /workspace/x\n+++ /workspace/x\n@@\n-a\n+b\n", []paths{{"/workspace/x", "/workspace/x"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			files, err := file.Parse(tt.diff)
			if err != nil {
				t.Fatal(err)
			}
			var got []paths
			for _, f := range files {
				got = append(got, paths{f.Old, f.New})
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func FuzzApply(f *testing.F) {
	for _, diff := range []string{
		"--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n",
		"--- a/x\n+++ b/x\n@@\n-six\n+6\n\\ No newline at end of file\n",
		"*** Begin Patch\n*** Update File: x\n@@ two\n-three\n+3\n*** End Patch\n",
		"diff --git a/x b/y\nrename from x\nrename to y\n",
	} {
		f.Add(poem, diff)
	}
	f.Fuzz(func(t *testing.T, content, diff string) {
		began := time.Now()
		files, err := file.Parse(diff)
		if err != nil {
			return
		}
		for _, changed := range files {
			got, err := file.Apply(content, changed.Hunks)
			if err != nil {
				continue
			}
			removed, added := 0, 0
			for _, h := range changed.Hunks {
				for _, l := range h.Lines {
					switch l.Op {
					case '+':
						added++
					case '-':
						removed++
					}
				}
			}
			// A patch changes the number of lines by exactly what it says.
			if want := lines(content) + added - removed; lines(got) != want && !emptyLast(got) {
				t.Errorf("the result has %d lines, want %d\ncontent %q\ndiff %q\ngot %q", lines(got), want, content, diff, got)
			}
		}
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("took %s for %d and %d bytes", took, len(content), len(diff))
		}
	})
}

// lines counts the lines of text, one without a line end included.
func lines(text string) int {
	n := strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		n++
	}
	return n
}

// emptyLast reports whether the last line may be empty and without a line end,
// so that it is not seen.
func emptyLast(text string) bool { return text == "" || strings.HasSuffix(text, "\n") }
