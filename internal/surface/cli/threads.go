package cli

import (
	"cmp"
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"chela"
	"chela/internal/api"
	"chela/internal/surface/cli/console"
	"chela/internal/surface/terminal"
)

var threadHead = []string{"THREAD", "TITLE", "STATE", "ENTRIES", "UPDATED"}

func threadRow(t chela.Thread) []string {
	return []string{string(t.ID), t.Title, string(t.State), fmt.Sprint(t.Seq), terminal.Moment(t.UpdatedAt)}
}

// threadsOf returns the threads of a session, most recently used first.
func threadsOf(ctx context.Context, home caller, key chela.SessionKey) ([]chela.Thread, error) {
	if _, err := chela.ParseSessionKey(key); err != nil { // an empty one would be the main session
		return nil, err
	}
	return api.All(ctx, home, api.ThreadsList, api.ThreadFilter{Session: key})
}

func (c *commands) threadsCommand() *cobra.Command {
	var session string
	mainSession := string(chela.MainKey(chela.MainAgent))
	listing := &cobra.Command{
		Use: "list", Short: "List the threads of a session, the last used first", Args: console.Exactly(0),
		RunE: c.inHome(func(ctx context.Context, b *Backend, _ []string) error {
			own, err := threadsOf(ctx, b.API, chela.SessionKey(session))
			if chela.KindOf(err) == chela.NotFound && session == mainSession {
				own, err = nil, nil // the thread is empty
			}
			if err != nil {
				return console.NotThere(err, "see chela sessions list")
			}
			return console.List(c.p, own, threadHead, threadRow)
		}),
	}
	listing.Flags().StringVar(&session, "session", mainSession, "session key")
	return console.Group("threads", "List, start, rewind, branch and switch threads", append([]*cobra.Command{
		listing, named("new", c.threadNew()),
		{
			Use: "show ID", Short: "Show the entries of a thread", Args: console.Exactly(1),
			RunE: c.inHome(func(ctx context.Context, b *Backend, args []string) error {
				return c.threadShow(ctx, b, chela.ThreadID(args[0]))
			}),
		},
		{
			Use: "switch ID", Short: "Switch to a thread: it becomes the current one of its session", Args: console.Exactly(1),
			RunE: c.inHome(func(ctx context.Context, b *Backend, args []string) error {
				return c.threadSwitch(ctx, b, chela.ThreadID(args[0]))
			}),
		},
		verb(c, api.ThreadsTitle, c.thread), verb(c, api.ThreadsPrompt, c.promptSize),
	}, c.rewindCommands()...)...)
}

func (c *commands) threadNew() *cobra.Command {
	return derived(c, api.ThreadsCreate, func(ctx context.Context, b *Backend, q api.NewThread) error {
		return c.threadBegin(ctx, b, cmp.Or(q.Session, chela.MainKey(chela.MainAgent)), q.Title)
	})
}

func (c *commands) threadBegin(ctx context.Context, b *Backend, key chela.SessionKey, title string) error {
	if _, err := chela.ParseSessionKey(key); err != nil { // an empty one would be the main session
		return err
	}
	t, err := api.Call(ctx, b.API, api.ThreadsCreate, api.NewThread{Session: key, Title: title})
	if err != nil {
		return console.NotThere(err, "see chela sessions list")
	}
	return c.threadShown(t, nil)
}

// threadSwitch makes a thread current in its session.
func (c *commands) threadSwitch(ctx context.Context, b *Backend, id chela.ThreadID) error {
	t, err := api.Call(ctx, b.API, api.ThreadsShow, api.ThreadRef{ID: id})
	if err == nil {
		_, err = api.Call(ctx, b.API, api.SessionsChange, api.SessionChange{
			SessionRef: api.SessionRef{Key: t.Session}, Settings: api.SettingsPatch{Thread: &id},
		})
	}
	return c.threadShown(t.Thread, err)
}

// threadShown prints the key fields of a changed thread.
func (c *commands) threadShown(t chela.Thread, err error) error {
	switch {
	case err != nil:
		return console.NotThere(err, "see chela threads list")
	case c.p.JSON:
		return c.p.Document(t)
	}
	return c.thread(t)
}

// thread writes the key fields of a thread for people.
func (c *commands) thread(t chela.Thread) error {
	c.p.Fields([2]string{"session", string(t.Session)}, [2]string{"thread", string(t.ID)}, [2]string{"title", t.Title})
	return nil
}

func (c *commands) threadShow(ctx context.Context, b *Backend, id chela.ThreadID) error {
	t, err := api.Call(ctx, b.API, api.ThreadsShow, api.ThreadRef{ID: id})
	if err != nil {
		return console.NotThere(err, "see chela threads list")
	}
	path, err := api.All(ctx, b.API, api.ThreadsEntries, api.EntriesQuery{ThreadRef: api.ThreadRef{ID: id}, Path: true})
	if err != nil {
		return err
	}
	if c.p.JSON {
		return c.p.Document(struct {
			api.Thread
			Entries []chela.Entry `json:"entries"`
		}{t, path})
	}
	c.p.Fields(append([][2]string{
		{"thread", string(t.ID)},
		{"session", string(t.Session)},
		{"title", t.Title},
		{"state", string(t.State)},
		{"updated", terminal.Moment(t.UpdatedAt)},
	}, rewindFields(id, t.Places)...)...)
	for _, e := range path {
		if !e.Mark().Hidden {
			c.p.Entry(e)
		}
	}
	return nil
}

// promptSize writes the size of a prompt for people.
func (c *commands) promptSize(size api.PromptSize) error {
	c.p.Fields(terminal.PromptFields(size)...)
	return nil
}
