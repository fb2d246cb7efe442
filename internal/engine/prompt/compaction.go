package prompt

// This part of the package produces the content of a compaction entry: it
// writes the entries leaving the prompt into the archive and creates the
// summary that replaces them. Package prompt decides which entries leave,
// package turn decides when.
//
//	summary by a model, where the plan wants one ─▶ archive ─▶ daily log ─▶ entry
//
// The compaction takes effect when the turn appends the entry. All earlier
// steps are idempotent: documents apply an edit with the same key once, and the
// key is derived from the parent of the entry and the first kept entry. Entries
// that cannot be archived stay in the prompt.

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"chela"
	"chela/internal/platform/fail"
)

// CompactionPurpose is the ledger's purpose of a summary.
const CompactionPurpose = "compaction"

// maxPiece is the maximum size of one archive edit, in bytes.
const maxPiece = 64 << 10

// author is the author recorded in the documents.
const author = "compaction"

// documents is the document store of the agents.
type documents interface {
	// Edit makes a new version of a document, once per key. A note that does not fit
	// goes into a continuation of its document; Edit returns the one that holds it.
	Edit(ctx context.Context, e chela.DocumentEdit) (chela.Document, error)
}

// A CompactionRequest describes one compaction.
type CompactionRequest struct {
	Agent        string
	Turn         chela.Turn
	Head         chela.EntryID // parent of the compaction entry
	Conversation Conversation
	Plan         Plan
	Budget       Budget
	Wishes       string // instructions on what to keep; may be empty

	// Ask sends a request to the turn's model.
	Ask func(ctx context.Context, req *chela.Request) (*chela.Finish, error)
}

// A Compactor performs compactions. It is safe for concurrent use.
type Compactor struct {
	documents documents
	zone      *time.Location // time zone of the daily log
}

// NewCompactor returns a compactor that archives into documents.
func NewCompactor(documents documents, zone *time.Location) *Compactor {
	return &Compactor{documents: documents, zone: zone}
}

// A KeepError means that the archive could not be written, so the entries must
// stay in the prompt.
type KeepError struct{ Err error }

// Error returns the message with its cause.
func (e *KeepError) Error() string { return "archive entries of the prompt: " + e.Err.Error() }

// Unwrap returns the cause.
func (e *KeepError) Unwrap() error { return e.Err }

// Compact writes the archive and returns the summary, with the model's answer
// if a model wrote it. An error is the model's own, or a *KeepError; the answer
// may be set together with an error, because it was billed.
func (c *Compactor) Compact(ctx context.Context, r CompactionRequest) (summary string, paid *chela.Finish, err error) {
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
	if _, err := c.documents.Edit(ctx, daily); err != nil {
		return "", paid, &KeepError{err}
	}
	return r.Plan.Written(r.Conversation, written, archives, r.Budget), paid, nil
}

// write asks the model for the summary. An empty summary is Unavailable.
func write(ctx context.Context, r CompactionRequest) (string, *chela.Finish, error) {
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

// archive writes the leaving entries into the archive of the day and returns
// the documents that hold them.
func (c *Compactor) archive(ctx context.Context, r CompactionRequest) ([]string, error) {
	path := chela.DocsArchive + r.Turn.CreatedAt.In(c.zone).Format(time.DateOnly) + ".md"
	var archives []string
	for i, text := range joined(r.Conversation.Leaving(r.Plan)) {
		e := r.edit(fmt.Sprint(i), text)
		e.Path = path
		d, err := c.documents.Edit(ctx, e)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(archives, d.Path) {
			archives = append(archives, d.Path)
		}
	}
	return archives, fail.Point("compaction.archived")
}

// edit returns the document edit of a part of the request; the same part always
// has the same key.
func (r CompactionRequest) edit(part, text string) chela.DocumentEdit {
	text = strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
	return chela.DocumentEdit{
		Kind: chela.EditNote, Agent: r.Agent, Text: text, Key: fmt.Sprintf("%s/%s/%s", r.Head, r.Plan.FirstKept(r.Conversation), part),
		Author: chela.Author{By: author, Turn: r.Turn.ID}, Provenance: r.Conversation.Provenance,
	}
}

// joined packs pieces, separated by blank lines, into texts of at most maxPiece
// bytes. A longer piece is split.
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
