package prompt_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/engine/prompt"
)

// shelf keeps documents in memory: a document takes each key once, and one that
// is full goes on in another.
type shelf struct {
	texts map[string]string
	keys  map[string]bool
	full  int // bytes
	err   error
}

// Note implements prompt.Documents.
func (s *shelf) Edit(_ context.Context, e chela.DocumentEdit) (chela.Document, error) {
	if s.err != nil {
		return chela.Document{}, s.err
	}
	path := e.Path
	for n := 2; len(s.texts[path])+len(e.Text) > s.full && !s.keys[path+e.Key]; n++ {
		path = fmt.Sprintf("%s-%d.md", strings.TrimSuffix(e.Path, ".md"), n)
	}
	if !s.keys[path+e.Key] {
		s.keys[path+e.Key] = true
		s.texts[path] += e.Text + "\n"
	}
	return chela.Document{Agent: e.Agent, Path: path}, nil
}

func newShelf() *shelf {
	return &shelf{texts: map[string]string{}, keys: map[string]bool{}, full: 256 << 10}
}

// request is about a conversation of two turns, the first of which leaves.
func request(strategy chela.Strategy, first string) prompt.CompactionRequest {
	var c prompt.Conversation
	for i, text := range []string{first, "It is.", "And then?"} {
		e := chela.Entry{ID: chela.EntryID(fmt.Sprint("ent_", i)), Turn: chela.TurnID(fmt.Sprint("turn_", i/2)), Body: chela.UserBody{Text: text}}
		if i == 1 {
			e.Body = chela.AnswerBody{Text: text}
		}
		c = c.Append(e)
	}
	return prompt.CompactionRequest{
		Agent: "main", Head: "ent_2", Conversation: c, Plan: prompt.Plan{Strategy: strategy, Kept: 2},
		Turn:   chela.Turn{ID: "turn_1", CreatedAt: time.Date(2026, time.November, 21, 23, 30, 0, 0, time.UTC)},
		Budget: prompt.DefaultSettings().Budget(prompt.Frame{}), Wishes: "keep it short",
		Ask: func(_ context.Context, req *chela.Request) (*chela.Finish, error) {
			if !strings.Contains(req.Messages[0].Text, "keep it short") {
				return nil, errors.New("the wish is missing")
			}
			return &chela.Finish{Text: " What a model has written.\n", Usage: chela.TokenUsage{Input: 7}}, nil
		},
	}
}

func TestCompact(t *testing.T) {
	t.Parallel()
	const (
		archive = "context/archive/2026-11-22.md" // it is past midnight in Berlin
		left    = "### Is it so?\n\n**user:** Is it so?\n\n**assistant:** It is.\n"
	)
	berlin := time.FixedZone("Berlin", 3600)
	for _, c := range []struct {
		strategy chela.Strategy
		want     string
		paid     *chela.Finish
		texts    map[string]string
	}{
		{chela.StrategyArchive, "Archived in " + archive + "\n- Is it so?", nil, map[string]string{archive: left}},
		{chela.StrategyTruncate, "Archived in " + archive, nil, map[string]string{archive: left}},
		{
			chela.StrategySummarize, "What a model has written.\n\nArchived in " + archive, &chela.Finish{Text: " What a model has written.\n", Usage: chela.TokenUsage{Input: 7}},
			map[string]string{archive: left, "daily/2026-11-22.md": "Summary of a conversation:\n\nWhat a model has written.\n"},
		},
	} {
		t.Run(string(c.strategy), func(t *testing.T) {
			t.Parallel()
			s := newShelf()
			for range 2 { // the second one is that of another process
				text, paid, err := prompt.NewCompactor(s, berlin).Compact(t.Context(), request(c.strategy, "Is it so?"))
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(c.want, text); diff != "" {
					t.Errorf("summary (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff(c.paid, paid); diff != "" {
					t.Errorf("paid (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff(c.texts, s.texts); diff != "" {
					t.Errorf("documents (-want +got):\n%s", diff)
				}
			}
		})
	}
}

// What does not go into one document goes on in the next, and the summary names
// both; no letter is lost or cut.
func TestCompactMuch(t *testing.T) {
	t.Parallel()
	s := newShelf()
	s.full = 100_000
	much := strings.Repeat("漢", 50_000) + "\xff\x00"
	text, _, err := prompt.NewCompactor(s, time.UTC).Compact(t.Context(), request(chela.StrategyTruncate, much))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("Archived in context/archive/2026-11-21.md\n\nArchived in context/archive/2026-11-21-2.md", text); diff != "" {
		t.Errorf("summary (-want +got):\n%s", diff)
	}
	all := s.texts["context/archive/2026-11-21.md"] + s.texts["context/archive/2026-11-21-2.md"]
	_, all, _ = strings.Cut(all, "\n") // the heading has the first letters once more
	if n := strings.Count(all, "漢"); n != 50_000 || strings.Count(all, "\uFFFD") != 2 {
		t.Errorf("%d letters, %d replaced", n, strings.Count(all, "\uFFFD"))
	}
}

func TestCompactFails(t *testing.T) {
	t.Parallel()
	full := newShelf()
	full.err = chela.E(chela.Exhausted, "the disk is full")
	_, _, err := prompt.NewCompactor(full, time.UTC).Compact(t.Context(), request(chela.StrategyArchive, "Is it so?"))
	if _, ok := errors.AsType[*prompt.KeepError](err); !ok || chela.KindOf(err) != chela.Exhausted {
		t.Errorf("error %v of kind %s", err, chela.KindOf(err))
	}
	for name, ask := range map[string]func(context.Context, *chela.Request) (*chela.Finish, error){
		"model fails": func(context.Context, *chela.Request) (*chela.Finish, error) {
			return nil, chela.E(chela.Unavailable, "away")
		},
		"model says nothing": func(context.Context, *chela.Request) (*chela.Finish, error) { return &chela.Finish{Text: " \n"}, nil },
	} {
		s := newShelf()
		r := request(chela.StrategySummarize, "Is it so?")
		r.Ask = ask
		_, _, err := prompt.NewCompactor(s, time.UTC).Compact(t.Context(), r)
		if _, ok := errors.AsType[*prompt.KeepError](err); ok || chela.KindOf(err) != chela.Unavailable || len(s.texts) != 0 {
			t.Errorf("%s: error %v, documents %v", name, err, s.texts)
		}
	}
}
