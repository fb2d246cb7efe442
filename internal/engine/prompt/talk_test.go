package prompt_test

import (
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
			Body: chela.Body{Text: fmt.Sprintf("text %d", n)},
		}
		call := chela.CallID(fmt.Sprintf("call%d", n))
		switch word[0] {
		case 'u':
			e.Kind = chela.EntryUser
		case 'a', 'A':
			e.Kind = chela.EntryAssistant
		case 'c', 'C':
			e.Kind, e.Body.Calls = chela.EntryAssistant, []chela.CallSpec{{ID: call, Tool: "look"}}
		case 'r', 'R':
			e.Kind, e.Body.Call = chela.EntryToolResult, chela.CallID(fmt.Sprintf("call%d", n-1))
		case 'n':
			e.Kind = chela.EntryNote
		case 'm':
			e.Kind, e.Body.Note = chela.EntryNote, chela.NoteFlush
		case 'e':
			e.Kind, e.Body.Note = chela.EntryNote, chela.NoteResume
		}
		if word[0] < 'a' {
			e.Body.Note, e.Body.Hidden = chela.NoteFlush, true
		}
		entries = append(entries, e)
	}
	return entries
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
	e := chela.Entry{
		ID: chela.EntryID(fmt.Sprintf("e%d", n)), Turn: "t", Seq: int64(n), Kind: chela.EntryCompaction, Tokens: 50,
		Body: chela.Body{Text: "summary", FirstKept: p.FirstKept(c), Pinned: p.Pinned, Strategy: p.Strategy},
	}
	if e.Body.FirstKept == "" {
		e.Body.FirstKept = e.ID
	}
	return e
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
	for i >= 0 && path[i].Body.FirstKept == "" {
		i--
	}
	if i < 0 {
		return path
	}
	at := func(id chela.EntryID) int {
		return slices.IndexFunc(path, func(e chela.Entry) bool { return e.ID == id })
	}
	var found []chela.Entry
	for _, id := range path[i].Body.Pinned {
		found = append(found, path[at(id)])
	}
	return append(found, path[at(path[i].Body.FirstKept):]...)
}

// number is that of an entry, 0 for another word.
func number(word string) int {
	n, err := strconv.Atoi(strings.TrimPrefix(word, "e"))
	if err != nil {
		return 0
	}
	return n
}
