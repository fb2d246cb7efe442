package prompt_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"chela"
	"chela/internal/engine/prompt"
)

// talk returns entries as they are sketched: a letter for what each is, and its
// tokens. Turns are parted by "|".
//
//	u  user           c  assistant with a call    n  note of the host
//	a  answer         r  result of that call
//	m  note that begins a flush, or ends it (e); C and A answers in one, R a result
func talk(sketch string) []chela.Entry {
	var entries []chela.Entry
	turn := 1
	for word := range strings.FieldsSeq(sketch) {
		if word == "|" {
			turn++
			continue
		}
		tokens, err := strconv.Atoi(word[1:])
		if err != nil {
			panic(err)
		}
		n := len(entries) + 1
		e := chela.Entry{
			ID: chela.EntryID(fmt.Sprintf("e%d", n)), Turn: chela.TurnID(fmt.Sprintf("t%d", turn)), Seq: int64(n), Tokens: tokens,
		}
		text, mark := fmt.Sprintf("text %d", n), chela.Mark{}
		if word[0] < 'a' {
			mark = chela.Mark{Note: chela.NoteFlush, Hidden: true}
		}
		switch word[0] {
		case 'u':
			e.Body = chela.UserBody{Text: text}
		case 'a', 'A':
			e.Body = chela.AnswerBody{Text: text, Mark: mark}
		case 'c', 'C':
			e.Body = chela.AnswerBody{Text: text, Mark: mark, Calls: []chela.CallSpec{{ID: chela.CallID(fmt.Sprintf("call%d", n)), Tool: "look"}}}
		case 'r', 'R':
			e.Body = chela.ResultBody{Text: text, Mark: mark, Call: chela.CallID(fmt.Sprintf("call%d", n-1))}
		case 'n':
			e.Body = chela.NoteBody{Text: text}
		case 'm':
			e.Body = chela.NoteBody{Text: text, Mark: chela.Mark{Note: chela.NoteFlush}}
		case 'e':
			e.Body = chela.NoteBody{Text: text, Mark: chela.Mark{Note: chela.NoteResume}}
		}
		entries = append(entries, e)
	}
	return entries
}

// said returns the body of an entry with only a text.
func said(kind chela.EntryKind, text string) chela.Body {
	raw, err := json.Marshal(map[string]string{"text": text})
	if err != nil {
		panic(err)
	}
	b, err := chela.DecodeBody(kind, raw)
	if err != nil {
		panic(err)
	}
	return b
}

func fold(entries []chela.Entry) prompt.Conversation {
	var c prompt.Conversation
	for _, e := range entries {
		c = c.Append(e)
	}
	return c
}

// compacted returns the entry that carries out a plan.
func compacted(c prompt.Conversation, p prompt.Plan, n int) chela.Entry {
	id := chela.EntryID(fmt.Sprintf("e%d", n))
	return chela.Entry{
		ID: id, Turn: "t", Seq: int64(n), Tokens: 50,
		Body: chela.CompactionBody{Text: "summary", FirstKept: cmp.Or(p.FirstKept(c), id), Pinned: p.Pinned, Strategy: p.Strategy},
	}
}

// held returns the entries that a conversation holds.
func held(c prompt.Conversation) string {
	var ids []string
	for _, p := range c.Parts {
		id := string(p.Entry)
		if p.Pinned {
			id += "!"
		}
		ids = append(ids, id)
	}
	return strings.Join(ids, " ")
}

// promptPath is what the store reads of a path for a prompt.
func promptPath(path []chela.Entry) []chela.Entry {
	i := len(path) - 1
	for i >= 0 && path[i].Compaction().FirstKept == "" {
		i--
	}
	if i < 0 {
		return path
	}
	at := func(id chela.EntryID) int {
		return slices.IndexFunc(path, func(e chela.Entry) bool { return e.ID == id })
	}
	var found []chela.Entry
	for _, id := range path[i].Compaction().Pinned {
		found = append(found, path[at(id)])
	}
	return append(found, path[at(path[i].Compaction().FirstKept):]...)
}

// number is that of an entry, 0 for another word.
func number(word string) int {
	n, err := strconv.Atoi(strings.TrimPrefix(word, "e"))
	if err != nil {
		return 0
	}
	return n
}
