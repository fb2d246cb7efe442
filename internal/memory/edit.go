package memory

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"chela"
	"chela/internal/store"
)

// maxKey is the longest key of an edit, in bytes.
const maxKey = 200

// Write makes the text of an edit the document's. It returns the new version,
// or the one that an edit with the same key made before. It is a Conflict if
// the document is not at the version that the edit expects, Exhausted if it
// would become too large.
func (k *Keeper) Write(ctx context.Context, e chela.DocumentEdit) (chela.Document, error) {
	return k.revise(ctx, e, func(before chela.Document) (chela.Document, error) { return saying(before, e.Text) })
}

// Append is Write that adds the text of an edit to the end of a document, on a
// line of its own. A log of a day that is full goes on in a document beside it,
// such as daily/2026-05-04-2.md.
func (k *Keeper) Append(ctx context.Context, e chela.DocumentEdit) (chela.Document, error) {
	return k.extend(ctx, e, func(before string) string { return onNewLine(before) + onNewLine(e.Text) })
}

// Note appends the text of an edit to the log of a day, under the time that it
// is. The path says which log, as the day may have passed since that was
// decided; the empty path is today's.
func (k *Keeper) Note(ctx context.Context, e chela.DocumentEdit) (chela.Document, error) {
	if e.Path == "" {
		e.Path = k.Today()
	}
	title := "# " + strings.TrimSuffix(path.Base(e.Path), path.Ext(e.Path)) + "\n"
	entry := "\n## " + k.Now().In(k.Zone).Format("15:04") + "\n\n" + onNewLine(e.Text)
	return k.extend(ctx, e, func(before string) string {
		if before == "" {
			return title + entry
		}
		return onNewLine(before) + entry
	})
}

// Today returns the path of today's log.
func (k *Keeper) Today() string { return chela.DailyDocument(k.Now().In(k.Zone)) }

// onNewLine returns text so that what follows it is on a line of its own.
func onNewLine(text string) string {
	if text == "" || strings.HasSuffix(text, "\n") {
		return text
	}
	return text + "\n"
}

// dated is the end of the path of a log of a day.
var dated = regexp.MustCompile(`/\d{4}-\d\d-\d\d\.(md|txt)$`)

// maxParts is in how many documents a log of a day may go on.
const maxParts = 100

// extend makes a document longer, or the one in which it goes on.
func (k *Keeper) extend(ctx context.Context, e chela.DocumentEdit, longer func(before string) string) (chela.Document, error) {
	if strings.TrimSpace(e.Text) == "" {
		return chela.Document{}, chela.E(chela.Invalid, "there is nothing to append").WithHint("say what to add")
	}
	ending := path.Ext(e.Path)
	name := strings.TrimSuffix(e.Path, ending)
	goesOn := dated.MatchString(e.Path)
	for part := 2; ; part++ {
		d, err := k.revise(ctx, e, func(before chela.Document) (chela.Document, error) { return saying(before, longer(before.Text)) })
		if chela.KindOf(err) != chela.Exhausted || len(longer("")) > chela.MaxDocumentBytes || !goesOn || part > maxParts {
			return d, err
		}
		e.Path = fmt.Sprintf("%s-%d%s", name, part, ending)
	}
}

// saying returns a document with another text.
func saying(d chela.Document, text string) (chela.Document, error) {
	if len(text) > chela.MaxDocumentBytes {
		return d, chela.E(chela.Exhausted, fmt.Sprintf("%s would have %d bytes, %d are allowed", d.Path, len(text), chela.MaxDocumentBytes)).
			WithHint("write less, or into another document")
	}
	sum := sha256.Sum256([]byte(text))
	d.Text, d.Size, d.SHA256, d.Deleted = text, int64(len(text)), hex.EncodeToString(sum[:]), false
	return d, nil
}

// Delete deletes a document; what it said is kept as versions. It returns the
// version that says so. It is NotFound if there is no such document.
func (k *Keeper) Delete(ctx context.Context, e chela.DocumentEdit) (chela.Document, error) {
	return k.revise(ctx, e, func(d chela.Document) (chela.Document, error) {
		if d.Version == 0 || d.Deleted {
			return d, noDocument(d.Path)
		}
		d.Text, d.Size, d.SHA256, d.Deleted = "", 0, "", true
		return d, nil
	})
}

// A revision is an edit with what it makes of a document. Next tells that from
// the version before, which has no text where there is no document.
type revision struct {
	chela.DocumentEdit
	at   time.Time
	next func(before chela.Document) (chela.Document, error)
}

// revise makes a new version of a document, and returns the one that was made
// with the key of the edit, now or before.
func (k *Keeper) revise(ctx context.Context, e chela.DocumentEdit, next func(chela.Document) (chela.Document, error)) (made chela.Document, err error) {
	if e, err = check(e); err != nil {
		return chela.Document{}, err
	}
	v := revision{DocumentEdit: e, at: k.Now().UTC().Truncate(time.Microsecond), next: next}
	err = k.store.Write(ctx, "document.edit", func(w *store.Write) (err error) {
		if err := seed(ctx, w, e.Agent, v.at); err != nil {
			return err
		}
		made, err = v.make(ctx, w)
		return err
	})
	if err != nil {
		return chela.Document{}, err
	}
	return made, nil
}

// make makes the version in a transaction.
func (v revision) make(ctx context.Context, w *store.Write) (chela.Document, error) {
	before, err := w.HoldDocument(ctx, chela.Document{Agent: v.Agent, Path: v.Path, CreatedAt: v.at})
	if err != nil {
		return before, err
	}
	if made, again, err := w.DocumentWrite(ctx, v.Agent, v.Path, v.Key); err != nil || again {
		return made, err
	}
	if err := expect(v.Expect, before); err != nil {
		return before, err
	}
	d, err := v.next(before)
	if err != nil {
		return d, err
	}
	d.Version, d.Key, d.Author, d.WrittenAt = before.Version+1, v.Key, v.Author, v.at
	return d, w.AddVersion(ctx, d)
}

// expect returns a Conflict if a document is not at the version that an edit
// expects. One that was deleted may also be expected not to be there.
func expect(version *int64, d chela.Document) error {
	if version == nil || *version == d.Version || *version == 0 && d.Deleted {
		return nil
	}
	return chela.E(chela.Conflict, fmt.Sprintf("%s is at version %d, not %d", d.Path, d.Version, *version)).
		WithHint("read it again and make the change to what it says now")
}

// check returns an edit with its path clean, or what is wrong with it.
func check(e chela.DocumentEdit) (chela.DocumentEdit, error) {
	clean, err := chela.CleanDocumentPath(e.Path)
	if err != nil {
		return e, err
	}
	e.Path = clean
	switch {
	case !chela.ValidName(e.Agent):
		return e, chela.E(chela.Invalid, fmt.Sprintf("%.40q is not the name of an agent", e.Agent))
	case e.Key == "" || len(e.Key) > maxKey:
		return e, chela.E(chela.Invalid, fmt.Sprintf("an edit needs a key of up to %d bytes", maxKey))
	case !utf8.ValidString(e.Text) || strings.ContainsRune(e.Text, 0):
		return e, chela.E(chela.Invalid, "what "+clean+" should say is not text").
			WithHint("documents are UTF-8 without NUL; put other files into the workspace")
	}
	return e, nil
}
