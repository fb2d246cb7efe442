package chela_test

import (
	"strings"
	"testing"
	"time"

	"chela"
)

func TestCleanDocumentPath(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"MEMORY.md":                      "MEMORY.md",
		"memory.MD":                      "", // no ending of documents, though the name would fit
		"memory.md":                      "MEMORY.md",
		"./soul.md":                      "SOUL.md",
		"ſoul.md":                        "SOUL.md", // equal but for case, in Unicode's eyes
		"projects/memory.md":             "projects/memory.md",
		"Projects/Alpha/README.md":       "projects/Alpha/README.md",
		"DAILY/2026-05-04.md":            "daily/2026-05-04.md",
		"Dailyx/a.md":                    "Dailyx/a.md",
		"knowledge//a/./b.txt":           "knowledge/a/b.txt",
		"knowledge/größe 漢字.md":          "knowledge/größe 漢字.md",
		"a.b/c.md":                       "a.b/c.md",
		strings.Repeat("a", 197) + ".md": strings.Repeat("a", 197) + ".md",
		strings.Repeat("a", 198) + ".md": "",
		"":                               "",
		".":                              "",
		"daily":                          "",
		"daily/":                         "",
		"a.pdf":                          "",
		".md":                            "",
		"/MEMORY.md":                     "",
		"../MEMORY.md":                   "",
		"a/../MEMORY.md":                 "",
		"a/.hidden/b.md":                 "",
		`a\b.md`:                         "",
		"a\n.md":                         "",
		"a\u202e.md":                     "",
		"a\xff.md":                       "",
		" a.md":                          "",
		"a /b.md":                        "",
		"a.md/b.md":                      "",
	} {
		got, err := chela.CleanDocumentPath(in)
		if got != want || (want == "") != (chela.KindOf(err) == chela.Invalid) {
			t.Errorf("%q is %q and %v, want %q", in, got, err, want)
		}
		if again, _ := chela.CleanDocumentPath(got); again != got {
			t.Errorf("%q cleaned twice is %q", got, again)
		}
	}
}

func TestPrivateDocuments(t *testing.T) {
	t.Parallel()
	day := chela.DailyDocument(time.Date(2026, 5, 4, 23, 0, 0, 0, time.UTC))
	for path, want := range map[string]bool{
		"MEMORY.md": true, "daily/2026-05-04.md": true, day: true, "context/archive/2026-05-04.md": true,
		"USER.md": false, "context/plans.md": false, "projects/MEMORY.md": false, "daily.md": false,
	} {
		if got := chela.IsPrivateDocument(path); got != want {
			t.Errorf("%s is private: %t", path, got)
		}
	}
}

func FuzzCleanDocumentPath(f *testing.F) {
	for _, seed := range []string{"MEMORY.md", "a/../b.md", "daily//x.txt", "ſoul.md", "a\x00.md"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) {
		got, err := chela.CleanDocumentPath(in)
		if err != nil {
			return
		}
		again, err := chela.CleanDocumentPath(got)
		if err != nil || again != got || strings.Contains(got, "..") || strings.HasPrefix(got, "/") || len(got) > chela.MaxDocumentPathBytes {
			t.Fatalf("%q is %q, then %q and %v", in, got, again, err)
		}
	})
}
