package chela

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Limits of documents.
const (
	MaxDocumentBytes     = 256 << 10 // of text
	MaxDocumentPathBytes = 200
	MaxDocumentVersions  = 50 // kept of each document; older ones are forgotten
)

// A Document is a text that an agent keeps across threads, named by a path. It
// is never changed: each write and each deletion makes a new version.
type Document struct {
	Agent     string    `json:"agent"`
	Path      string    `json:"path"`
	CreatedAt time.Time `json:"created_at"` // when its first version was written
	DocumentVersion
}

// A DocumentVersion is what a document said from one write to the next. A
// deletion is a version without a text.
type DocumentVersion struct {
	Version   int64     `json:"version"` // grows by one, from 1
	Deleted   bool      `json:"deleted,omitempty"`
	SHA256    string    `json:"sha256,omitempty"` // of the text, lower-case hex; empty for a deletion
	Size      int64     `json:"size"`             // of the text in bytes
	Key       string    `json:"key"`              // what the write is known by: a document takes each once
	Author    Author    `json:"author"`
	WrittenAt time.Time `json:"written_at"`
	Text      string    `json:"text,omitempty"` // left out where documents or versions are listed
}

// An Author is who wrote something: a call of a turn, or whoever By names.
type Author struct {
	By   string `json:"by,omitempty"` // a person through a surface, or a part of chela
	Turn TurnID `json:"turn,omitempty"`
	Call CallID `json:"call,omitempty"`
}

// EditKind says what an edit does to a document.
type EditKind string

// The kinds of edits.
const (
	EditWrite  EditKind = "write"  // the text of the edit becomes the document's
	EditAppend EditKind = "append" // it is added to the end, on a line of its own
	EditNote   EditKind = "note"   // it is added to the log of a day, under the time
	EditDelete EditKind = "delete"
)

// A DocumentEdit asks for a new version of a document.
type DocumentEdit struct {
	Kind   EditKind
	Agent  string
	Path   string // of a note: the log, or empty for today's
	Text   string // nothing for a deletion
	Key    string // the same key never changes a document twice
	Expect *int64 // the version that it must have, 0 for none; nil for any
	Author Author
}

// A DocumentNode is a document or a folder of documents, as a tree lists them.
type DocumentNode struct {
	Path      string    `json:"path"`                // of a folder with "/" at its end
	Documents int       `json:"documents,omitempty"` // of a folder: how many are below it
	Version   int64     `json:"version,omitempty"`   // of a document
	Size      int64     `json:"size"`                // of a folder: of all below it
	WrittenAt time.Time `json:"written_at"`          // of a folder: of the newest below it
}

// IsFolder reports whether n is a folder.
func (n DocumentNode) IsFolder() bool { return strings.HasSuffix(n.Path, "/") }

// The documents that have a meaning of their own.
const (
	DocReadme    = "README.md"    // what the other documents are for
	DocMemory    = "MEMORY.md"    // facts and decisions worth keeping; private
	DocHeartbeat = "HEARTBEAT.md" // what to look at unasked
	DocIdentity  = "IDENTITY.md"  // who the agent is
	DocSoul      = "SOUL.md"      // what it holds dear
	DocAgents    = "AGENTS.md"    // how it works
	DocUser      = "USER.md"      // whom it serves
	DocTools     = "TOOLS.md"     // notes on the tools of this home
	DocBootstrap = "BOOTSTRAP.md" // leads the first conversation and is deleted then
)

// The folders that chela itself writes into.
const (
	DocsDaily   = "daily/"           // a log of each day
	DocsArchive = "context/archive/" // conversations that left the prompt
)

var fixedDocuments = []string{
	DocReadme, DocMemory, DocHeartbeat, DocIdentity, DocSoul, DocAgents, DocUser, DocTools, DocBootstrap,
}

var fixedFolders = []string{"context/", DocsDaily, "projects/", "knowledge/"}

// documentEndings are those of documents: all of them hold plain text.
var documentEndings = []string{".md", ".txt"}

// DailyDocument returns the path of the log of the day that t is in, where t is.
func DailyDocument(t time.Time) string { return DocsDaily + t.Format(time.DateOnly) + ".md" }

// IsPrivateDocument reports whether a document comes out of conversations with
// the owner alone, so that groups must not see it.
func IsPrivateDocument(path string) bool {
	return path == DocMemory || strings.HasPrefix(path, DocsDaily) || strings.HasPrefix(path, DocsArchive)
}

// CleanDocumentPath returns the one spelling of a document's path: relative,
// parted by "/", ending in .md or .txt. The documents and folders that have a
// meaning are found whatever their case. Anything else is an Invalid error.
func CleanDocumentPath(s string) (string, error) {
	clean, err := cleanPath(s)
	if err != nil {
		return "", err
	}
	if !slices.Contains(documentEndings, path.Ext(clean)) {
		return "", badPath(s, "end its name in .md or .txt")
	}
	for _, fixed := range fixedDocuments {
		if strings.EqualFold(clean, fixed) {
			return fixed, nil
		}
	}
	return clean, nil
}

// CleanDocumentFolder returns the one spelling of a folder of documents, with
// a "/" at its end, or "" for all of them, which is also written as "." or "/".
func CleanDocumentFolder(s string) (string, error) {
	if s == "" || s == "." || s == "/" {
		return "", nil
	}
	clean, err := cleanPath(strings.TrimSuffix(s, "/") + "/x")
	return strings.TrimSuffix(clean, "x"), err
}

func cleanPath(s string) (string, error) {
	switch {
	case s == "":
		return "", E(Invalid, "the document has no path").WithHint("write one such as projects/house.md")
	case len(s) > MaxDocumentPathBytes:
		return "", badPath(s, fmt.Sprintf("use at most %d bytes", MaxDocumentPathBytes))
	case !utf8.ValidString(s) || strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }):
		return "", badPath(s, "use printable characters only")
	case strings.HasPrefix(s, "/") || strings.Contains(s, `\`):
		return "", badPath(s, `begin with the name of a folder or document, and use "/" between them`)
	}
	for part := range strings.SplitSeq(s, "/") {
		if part == ".." || part != "." && strings.HasPrefix(part, ".") || part != strings.TrimSpace(part) {
			return "", badPath(s, `leave out "..", names that begin with a dot, and spaces around names`)
		}
	}
	clean := path.Clean(s)
	folders, _ := path.Split(clean)
	for folder := range strings.SplitSeq(folders, "/") {
		if slices.Contains(documentEndings, path.Ext(folder)) {
			return "", badPath(s, "name folders so that they do not look like documents")
		}
	}
	for _, fixed := range fixedFolders {
		if len(clean) > len(fixed) && strings.EqualFold(clean[:len(fixed)], fixed) {
			clean = fixed + clean[len(fixed):]
		}
	}
	return clean, nil
}

func badPath(s, hint string) error {
	return E(Invalid, fmt.Sprintf("%.80q is not the path of a document", s)).WithHint(hint)
}
