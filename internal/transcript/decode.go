package transcript

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"unicode/utf8"

	"chela"
)

// Read reads a transcript. What is not well-formed is Invalid, and the error
// names the line; a file that is too large is Invalid as well. An error of r is
// returned as it is.
func Read(r io.Reader) (Transcript, error) {
	d := decoder{lines: bufio.NewReader(io.LimitReader(r, MaxBytes+1)), at: map[chela.EntryID]int{}}
	if err := d.read(); err != nil {
		return Transcript{}, err
	}
	return grow(d)
}

// SessionOf returns the session that the beginning of a transcript names, or ""
// if its first line names none or is not whole.
func SessionOf(beginning []byte) chela.SessionKey {
	first, _, _ := bytes.Cut(bytes.TrimSpace(beginning), []byte("\n"))
	var h header
	if json.Unmarshal(first, &h) != nil || h.Chela == nil {
		return ""
	}
	return h.Chela.Session
}

// A decoder reads lines into entries.
type decoder struct {
	lines *bufio.Reader
	size  int64
	n     int // number of the line
	t     Transcript
	line  []int // of each entry
	at    map[chela.EntryID]int
	ids   naming
	head  chela.EntryID // that the header names
	most  int           // entries that the header promises; -1 where it does not say
}

// refuse is the error for a line.
func refuse(n int, why string, args ...any) *chela.Error {
	return chela.E(chela.Invalid, fmt.Sprintf("line %d: ", n)+fmt.Sprintf(why, args...))
}

func (d *decoder) read() error {
	for {
		raw, err := d.lines.ReadBytes('\n')
		d.n++
		d.size += int64(len(raw))
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if d.size > MaxBytes {
			return TooLarge()
		}
		if text := bytes.TrimSpace(raw); len(text) > 0 {
			if failed := d.one(text); failed != nil {
				return failed
			}
		}
		if err != nil {
			return d.end()
		}
	}
}

// end checks that nothing is missing.
func (d *decoder) end() error {
	switch {
	case d.ids.file == "":
		return chela.E(chela.Invalid, "the transcript is empty").WithHint("give a file that chela sessions export wrote, or another in its format")
	case d.most >= 0 && len(d.t.Entries) != d.most:
		return refuse(d.n, "the file has %d entries, and says that it has %d", len(d.t.Entries), d.most).WithHint("export it again; it was cut off or changed")
	case len(d.t.Entries) == 0:
		return chela.E(chela.Invalid, "nothing was said in the transcript").WithHint("export another thread")
	}
	return nil
}

// one reads a line.
func (d *decoder) one(raw []byte) error {
	if !utf8.Valid(raw) || hasNUL(raw) {
		return refuse(d.n, "it is not plain UTF-8 text").WithHint("convert it, for example with iconv -t utf-8")
	}
	if d.ids.file == "" {
		return d.header(raw)
	}
	var l line
	if err := json.Unmarshal(raw, &l); err != nil {
		return refuse(d.n, "it is not an entry in JSON").WithHint("see the line").Because(err)
	}
	if l.Message != nil {
		l.said = *l.Message
	}
	if l.ID == "" {
		return refuse(d.n, "the entry has no id")
	}
	if len(d.t.Entries) == MaxEntries {
		return refuse(d.n, "a transcript may have %d entries", MaxEntries).WithHint("export it compacted")
	}
	e, err := d.entry(l, raw)
	if err != nil {
		return err
	}
	if _, twice := d.at[e.ID]; twice {
		return refuse(d.n, "there is another entry with id %.80q", l.ID)
	}
	if e.Parent != "" {
		if _, known := d.at[e.Parent]; !known {
			return refuse(d.n, "the entry hangs under %.80q, which does not come before it", *l.ParentID)
		}
	}
	d.at[e.ID] = len(d.t.Entries)
	d.t.Entries, d.line = append(d.t.Entries, e), append(d.line, d.n)
	return nil
}

// hasNUL reports whether a JSON text has a NUL character in it, which no
// database keeps.
func hasNUL(raw []byte) bool {
	for rest := raw; ; {
		i := bytes.Index(rest, []byte(`\u0000`))
		if i < 0 {
			return false
		}
		before := rest[:i+1]
		if escapes := len(before) - len(bytes.TrimRight(before, `\`)); escapes%2 == 1 {
			return true
		}
		rest = rest[i+6:]
	}
}

// header reads the first line.
func (d *decoder) header(raw []byte) error {
	var h header
	if err := json.Unmarshal(raw, &h); err != nil || h.Type != typeSession {
		return refuse(d.n, "it is not the header of a transcript").
			WithHint(`give a file whose first line is {"type":"session",…}`).Because(err)
	}
	d.ids = naming{file: h.ID, own: h.Chela != nil, at: h.Timestamp.Time}
	if d.ids.file == "" {
		return refuse(d.n, "the header has no id")
	}
	d.t.CreatedAt, d.most = h.Timestamp.Time, -1
	if m := h.Chela; m != nil {
		d.t.Session, d.t.Title, d.t.Compacted, d.t.Thread = m.Session, m.Title, m.Compacted, chela.ThreadID(h.ID)
		d.head, d.most = m.Head, m.Entries
	}
	return nil
}

// entry makes an entry of a line.
func (d *decoder) entry(l line, raw []byte) (e chela.Entry, err error) {
	at := l.Timestamp.Time
	if l.Chela != nil && !l.Chela.At.IsZero() {
		at = l.Chela.At.UTC()
	}
	if at.IsZero() {
		at = d.t.CreatedAt
	}
	e.ID, e.CreatedAt = d.ids.entry(l.ID), at
	if l.ParentID != nil && *l.ParentID != "" {
		e.Parent = d.ids.entry(*l.ParentID)
	}
	if l.Chela != nil && d.ids.own {
		e.Turn = l.Chela.Turn
		if l.Chela.Opened != nil && l.Chela.Opened.ID == e.Turn {
			d.t.Turns = append(d.t.Turns, *l.Chela.Opened)
		}
		if len(l.Chela.Body) > 0 {
			if err := json.Unmarshal(l.Chela.Body, &e.Body); err != nil || misplaced(e.Body) {
				return e, refuse(d.n, "the field chela holds no rest of a body").Because(err)
			}
		}
	}
	switch l.Type {
	case typeMessage:
		err = d.message(&e, l)
	case typeNote:
		e.Kind, e.Body.Hidden = chela.EntryNote, l.Hidden
		err = d.content(&e.Body, l)
	case typeCompaction:
		e.Kind, e.Body.Text, e.Body.TokensBefore = chela.EntryCompaction, l.Summary, max(l.Before, 0)
		e.Body.FirstKept = e.ID // nothing
		if l.FirstKept != "" {
			e.Body.FirstKept = d.ids.entry(l.FirstKept)
		}
	case typeBranchSummary:
		e.Kind, e.Body.Text = chela.EntryBranchSummary, l.Summary
	case "", typeSession:
		err = refuse(d.n, "the entry is of type %q", l.Type)
	default:
		e.Kind = chela.EntryCustom
		e.Body.Text, err = d.custom(l, raw)
	}
	return e, err
}

// misplaced reports whether a rest of a body has fields that the format has a
// place for.
func misplaced(b chela.Body) bool {
	return b.Text != "" || len(b.Thinking)+len(b.Calls)+len(b.Attachments) > 0 || b.Whole != nil || b.Call != "" || b.FirstKept != ""
}

// custom returns the text of a custom entry. A line of a type that is not known
// is kept whole.
func (d *decoder) custom(l line, raw []byte) (string, error) {
	s := namedState{l.Name, l.Data}
	switch {
	case l.Type != typeCustom:
		s = namedState{l.Type, raw}
	case l.Name == ownState:
		var text string
		if err := json.Unmarshal(l.Data, &text); err != nil {
			return "", refuse(d.n, "the state of chela is no text").Because(err)
		}
		return text, nil
	}
	if len(s.Data) == 0 {
		s.Data = json.RawMessage("null")
	}
	text, err := marshal(s)
	return string(text), err
}

// message reads what a message says.
func (d *decoder) message(e *chela.Entry, l line) error {
	b := &e.Body
	switch l.Role {
	case roleUser:
		e.Kind = chela.EntryUser
	case roleAssistant:
		e.Kind = chela.EntryAssistant
		b.Model = l.Model
		if l.Provider != "" && l.Model != "" {
			b.Model = l.Provider + "/" + l.Model
		}
		for _, s := range stops {
			if s.name == l.StopReason {
				b.Stop = s.reason
			}
		}
		b.Interrupted = b.Interrupted || l.StopReason == "aborted"
		if u := l.Usage; u != nil {
			b.Usage = &chela.TokenUsage{Input: u.Input, Output: u.Output, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite, Reasoning: u.Reasoning}
		}
	case roleTool, roleResult:
		e.Kind = chela.EntryToolResult
		b.Tool = l.ToolName
		if d.ids.own {
			b.Call = d.ids.call(l.ToolCallID)
		} else {
			b.Ref = l.ToolCallID // which call that is follows from where it hangs
		}
		switch {
		case !l.IsError:
			b.Status = chela.CallDone
		case !b.Status.Ended() || b.Status == chela.CallDone:
			b.Status = chela.CallFailed
		}
	default:
		return refuse(d.n, "the message is of role %.40q", l.Role).WithHint("user, assistant and tool are known")
	}
	return d.content(b, l)
}

// content reads the blocks of a message, or its text.
func (d *decoder) content(b *chela.Body, l line) error {
	if len(l.Content) == 0 || json.Unmarshal(l.Content, &b.Text) == nil {
		return nil
	}
	var blocks []block
	if err := json.Unmarshal(l.Content, &blocks); err != nil {
		return refuse(d.n, "the content is neither text nor blocks").Because(err)
	}
	var texts []string
	for _, one := range blocks {
		extra := blockMore{}
		if one.Chela != nil && d.ids.own {
			extra = *one.Chela
		}
		switch one.Type {
		case "text":
			texts = append(texts, one.Text)
		case "thinking":
			b.Thinking = append(b.Thinking, chela.Thinking{
				Text: one.Thinking, Signature: one.Signature, Redacted: extra.Redacted, Provider: extra.Provider,
			})
		case "toolCall":
			b.Calls = append(b.Calls, d.call(l.ID, one, extra))
		case "image", "file":
			a, err := d.attached(one, extra)
			switch {
			case err != nil:
				return err
			case extra.Whole:
				b.Whole = &a
			default:
				b.Attachments = append(b.Attachments, a)
			}
		default:
			return refuse(d.n, "a block is of type %.40q", one.Type).WithHint("text, thinking, toolCall, image and file are known")
		}
	}
	b.Text = strings.Join(texts, "\n")
	return nil
}

// call reads a tool call. The ids of other programs may come again in another
// entry.
func (d *decoder) call(entry string, one block, extra blockMore) chela.CallSpec {
	c := chela.CallSpec{ID: d.ids.call(one.ID), Ref: extra.Ref, Tool: one.Name, Args: one.Arguments, Raw: extra.Raw}
	if !d.ids.own {
		c.ID, c.Ref = d.ids.call(entry+" "+one.ID), one.ID
	}
	if c.Raw == "" && len(c.Args) == 0 {
		c.Args = json.RawMessage("{}")
	}
	return c
}

// attached reads an attachment, and checks that its content is what it is named
// by.
func (d *decoder) attached(one block, extra blockMore) (chela.Attachment, error) {
	a := chela.Attachment{Name: extra.Name, MediaType: one.MediaType, SHA256: extra.SHA256, Size: extra.Size}
	content := one.Data
	if a.SHA256 != "" && a.Size == 0 && content == nil {
		content = []byte{} // of an empty file nothing is written
	}
	if content != nil {
		sum := sha256.Sum256(content)
		hash := hex.EncodeToString(sum[:])
		if a.SHA256 != "" && a.SHA256 != hash {
			return a, refuse(d.n, "the attachment %.80q is not the one that its hash names", a.Name)
		}
		a.SHA256, a.Size = hash, int64(len(content))
	}
	if len(a.SHA256) != 2*sha256.Size || strings.Trim(a.SHA256, "0123456789abcdef") != "" || a.Size < 0 {
		return a, refuse(d.n, "an attachment has neither content nor a hash")
	}
	if a.Name == "" {
		a.Name = a.SHA256[:12] + "." + path.Base(a.MediaType)
	}
	d.t.Attached = append(d.t.Attached, Attached{Attachment: a, Line: d.n, Content: content, Needed: !extra.Whole})
	return a, nil
}
