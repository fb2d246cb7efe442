// Package compaction makes what a compaction entry says: it writes what leaves
// a prompt into the archive and makes the summary that takes its place. What
// leaves is decided by package prompt, when by package turn.
//
//	summary by a model, where the plan wants one ─▶ archive ─▶ daily log ─▶ entry
//
// The entry, which the turn appends, is what makes it happen. Everything before
// can be repeated: documents take an edit with the same key once, and the key
// is made of the head that the entry hangs under and of what it keeps. What
// cannot be written into the archive stays in the prompt.
package compaction

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"chela"
	"chela/internal/fail"
	"chela/internal/prompt"
)

// Purpose is what the ledger says a summary was paid for.
const Purpose = "compaction"

// maxPiece is how much goes into the archive in one edit, in bytes.
const maxPiece = 64 << 10

// author is who writes into the documents.
const author = "compaction"

// documents are those of agents.
type documents interface {
	// Note appends a text to the log of a day, or to the document in which that
	// goes on, once for each key. It returns the document that has the text.
	Note(ctx context.Context, e chela.DocumentEdit) (chela.Document, error)
}

// A Request says what should leave a prompt.
type Request struct {
	Agent        string
	Turn         chela.Turn
	Head         chela.EntryID // under which the entry will hang
	Conversation prompt.Conversation
	Plan         prompt.Plan
	Budget       prompt.Budget
	Wishes       string // what should be kept, said by somebody; may be empty

	// Ask asks the turn's model.
	Ask func(ctx context.Context, req *chela.Request) (*chela.Finish, error)
}

// A Compactor makes compactions. It may be used by several goroutines at once.
type Compactor struct {
	documents documents
	zone      *time.Location // decides what day it is
}

// New returns a compactor that keeps what leaves in documents.
func New(documents documents, zone *time.Location) *Compactor {
	return &Compactor{documents: documents, zone: zone}
}

// A KeepError says that the documents did not take what should leave the prompt.
type KeepError struct{ Err error }

// Error says so, with the cause.
func (e *KeepError) Error() string { return "keep what leaves the prompt: " + e.Err.Error() }

// Unwrap returns the cause.
func (e *KeepError) Unwrap() error { return e.Err }

// Compact writes the archive and returns the summary, and the answer that has it
// if a model has written it. Errors are those of the model, or a *KeepError; the
// answer may be set beside one, as it is paid for.
func (c *Compactor) Compact(ctx context.Context, r Request) (summary string, paid *chela.Finish, err error) {
	written := ""
	if r.Plan.Strategy == chela.StrategySummarize {
		if written, paid, err = write(ctx, r); err != nil {
			return "", paid, err
		}
	}
	archives, err := c.archive(ctx, r)
	if err != nil {
		return "", paid, &KeepError{err}
	}
	if written == "" {
		return r.Plan.Summary(r.Conversation, archives, r.Budget), paid, nil
	}
	daily := r.edit("daily", "Summary of a conversation:\n\n"+written)
	daily.Path = chela.DailyDocument(r.Turn.CreatedAt.In(c.zone))
	if _, err := c.documents.Note(ctx, daily); err != nil {
		return "", paid, &KeepError{err}
	}
	return r.Plan.Written(r.Conversation, written, archives, r.Budget), paid, nil
}

// write lets the model write the summary.
func write(ctx context.Context, r Request) (string, *chela.Finish, error) {
	f, err := r.Ask(ctx, r.Conversation.SummaryRequest(r.Plan, r.Budget, r.Wishes))
	if err != nil {
		return "", nil, fmt.Errorf("write a summary: %w", err)
	}
	text := strings.TrimSpace(f.Text)
	if text == "" {
		return "", f, chela.E(chela.Unavailable, "the model wrote no summary")
	}
	return text, f, nil
}

// archive writes what leaves into the archive of the day and returns the
// documents that have it.
func (c *Compactor) archive(ctx context.Context, r Request) ([]string, error) {
	path := chela.DocsArchive + r.Turn.CreatedAt.In(c.zone).Format(time.DateOnly) + ".md"
	var archives []string
	for i, text := range joined(r.Conversation.Leaving(r.Plan)) {
		e := r.edit(fmt.Sprint(i), text)
		e.Path = path
		d, err := c.documents.Note(ctx, e)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(archives, d.Path) {
			archives = append(archives, d.Path)
		}
	}
	return archives, fail.Point("compaction.archived")
}

// edit returns what a part of the request writes; the same part always has the
// same key.
func (r Request) edit(part, text string) chela.DocumentEdit {
	text = strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
	return chela.DocumentEdit{
		Agent: r.Agent, Text: text, Key: fmt.Sprintf("%s/%s/%s", r.Head, r.Plan.FirstKept(r.Conversation), part),
		Author: chela.Author{By: author, Turn: r.Turn.ID},
	}
}

// joined joins pieces with empty lines between them, as many as go into one
// edit. One that is too long is cut.
func joined(pieces []string) []string {
	var texts []string
	var b strings.Builder
	for _, p := range pieces {
		for p != "" {
			n := min(maxPiece, len(p))
			for n < len(p) && !utf8.RuneStart(p[n]) {
				n--
			}
			part := p[:n]
			p = p[n:]
			if b.Len() > 0 && b.Len()+len(part) > maxPiece {
				texts = append(texts, b.String())
				b.Reset()
			}
			if b.Len() > 0 {
				b.WriteString("\n\n")
			}
			b.WriteString(part)
		}
	}
	if b.Len() > 0 {
		texts = append(texts, b.String())
	}
	return texts
}
