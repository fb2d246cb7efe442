// Package documents keeps the documents of agents and their versions.
package documents

import (
	"context"
	"fmt"

	"chela"
	"chela/internal/store/engine"
	"chela/internal/store/rows"
)

// A Read is a transaction as far as it reads documents.
type Read struct{ tx rows.Tx }

// Reading returns a transaction as far as it reads documents.
func Reading(tx rows.Tx) Read { return Read{tx} }

// A Write is a transaction as far as it writes documents.
type Write struct{ tx rows.Tx }

// Writing returns a transaction as far as it writes documents.
func Writing(tx rows.Tx) Write { return Write{tx} }

// What a version is listed with; its text, which may be long, comes last in a
// row and is read only where it is asked for.
const documentColumns = `v.agent, v.path, d.created_at, v.version, v.deleted, v.sha256, v.size, v.key, v.author, v.turn, v.call, v.written_at`

// Documents joined with all their versions, and with the newest alone.
const (
	ofVersions = ` from document_versions v join documents d on d.agent = v.agent and d.path = v.path `
	ofNewest   = ofVersions + `and d.version = v.version `
)

func documentFields(d *chela.Document) []any {
	return []any{
		&d.Agent, &d.Path,
		rows.Time(&d.CreatedAt),
		&d.Version,
		rows.Flag(&d.Deleted),
		&d.SHA256, &d.Size, &d.Key,
		&d.Author.By, &d.Author.Turn, &d.Author.Call,
		rows.Time(&d.WrittenAt),
	}
}

func scanListed(row engine.Row) (d chela.Document, err error) {
	err = row.Scan(documentFields(&d)...)
	return d, err
}

func scanDocument(row engine.Row) (d chela.Document, err error) {
	err = row.Scan(append(documentFields(&d), &d.Text)...)
	return d, err
}

// Document returns the newest version of a document, which may be its deletion,
// or NotFound if it was never written.
func (r Read) Document(ctx context.Context, agent, path string) (chela.Document, error) {
	return rows.One(ctx, r.tx, scanDocument, "document", path,
		`select `+documentColumns+`, v.text`+ofNewest+`where d.agent = $1 and d.path = $2`, agent, path)
}

// DocumentAt returns a version of a document, or NotFound if it is not kept.
func (r Read) DocumentAt(ctx context.Context, agent, path string, version int64) (chela.Document, error) {
	return rows.One(ctx, r.tx, scanDocument, fmt.Sprintf("version %d of document", version), path,
		`select `+documentColumns+`, v.text`+ofVersions+`where v.agent = $1 and v.path = $2 and v.version = $3`, agent, path, version)
}

// DocumentWrite returns the version that was written with a key, and whether
// one that is kept was.
func (r Read) DocumentWrite(ctx context.Context, agent, path, key string) (chela.Document, bool, error) {
	return rows.First(ctx, r.tx, scanDocument,
		`select `+documentColumns+`, v.text`+ofVersions+`where v.agent = $1 and v.path = $2 and v.key = $3`, agent, path, key)
}

// DocumentVersions returns the versions that are kept of a document without
// their texts, newest first.
func (r Read) DocumentVersions(ctx context.Context, agent, path string) ([]chela.Document, error) {
	return rows.All(ctx, r.tx, scanListed,
		`select `+documentColumns+ofVersions+`where v.agent = $1 and v.path = $2 order by v.version desc`, agent, path)
}

// Documents returns the documents of an agent that are not deleted and whose
// paths begin with a prefix, without their texts, in no order.
func (r Read) Documents(ctx context.Context, agent, prefix string) ([]chela.Document, error) {
	return rows.All(ctx, r.tx, scanListed, `select `+documentColumns+ofNewest+`where d.agent = $1 and v.deleted = 0
		and substr(d.path, 1, length(cast($2 as text))) = $2`, agent, prefix)
}

// CountEdits returns how often some documents of an agent were written and
// deleted, all together. As long as it is the same, so is what they say.
func (r Read) CountEdits(ctx context.Context, agent string, paths ...string) (int64, error) {
	args := []any{agent}
	places := ""
	for _, path := range paths {
		args = append(args, path)
		places += fmt.Sprintf(", $%d", len(args))
	}
	edits, _, err := rows.First(ctx, r.tx, func(row engine.Row) (n int64, err error) {
		err = row.Scan(&n)
		return n, err
	}, `select cast(coalesce(sum(version), 0) as bigint) from documents where agent = $1 and path in (''`+places+`)`, args...)
	return edits, err
}

// HasDocuments reports whether an agent has documents, or ever had any.
func (r Read) HasDocuments(ctx context.Context, agent string) (bool, error) {
	_, has, err := rows.First(ctx, r.tx, func(row engine.Row) (path string, err error) {
		err = row.Scan(&path)
		return path, err
	}, `select path from documents where agent = $1 limit 1`, agent)
	return has, err
}

// HoldDocument keeps others from writing a document until the transaction ends,
// and returns its newest version, which may be its deletion. One that was never
// written has version 0; it is an error to leave it at that.
func (w Write) HoldDocument(ctx context.Context, d chela.Document) (chela.Document, error) {
	version, _, err := rows.First(ctx, w.tx, func(row engine.Row) (version int64, err error) {
		err = row.Scan(&version)
		return version, err
	}, `insert into documents (agent, path, version, created_at) values ($1, $2, 0, $3)
		on conflict (agent, path) do update set version = documents.version returning version`,
		d.Agent, d.Path, rows.Micros(d.CreatedAt))
	if err != nil || version == 0 {
		return chela.Document{Agent: d.Agent, Path: d.Path, CreatedAt: d.CreatedAt}, err
	}
	return Reading(w.tx).Document(ctx, d.Agent, d.Path)
}

// AddVersion makes d the newest version of a document that is held and was at
// the version before: a Conflict otherwise. Of the older ones it keeps as many
// as there may be.
func (w Write) AddVersion(ctx context.Context, d chela.Document) error {
	err := w.tx.Move(ctx, "document", d.Path, `update documents set version = $3 where agent = $1 and path = $2 and version = $3 - 1`,
		d.Agent, d.Path, d.Version)
	if err != nil {
		return err
	}
	err = w.tx.Must(ctx, `insert into document_versions (agent, path, version, deleted, sha256, size, key, author, turn, call, written_at, text)
		values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
		d.Agent, d.Path, d.Version, rows.Bit(d.Deleted), d.SHA256, d.Size, d.Key,
		d.Author.By, string(d.Author.Turn), string(d.Author.Call), rows.Micros(d.WrittenAt), d.Text)
	if err != nil {
		return err
	}
	return w.tx.Must(ctx, `delete from document_versions where agent = $1 and path = $2 and version <= $3`,
		d.Agent, d.Path, d.Version-chela.MaxDocumentVersions)
}
