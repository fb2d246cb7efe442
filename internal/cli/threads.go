package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"chela"
	"chela/internal/channel/terminal"
	"chela/internal/config"
)

var threadHead = []string{"THREAD", "TITLE", "STATE", "ENTRIES", "UPDATED"}

func threadRow(t chela.Thread) []string {
	return []string{string(t.ID), t.Title, string(t.State), fmt.Sprint(t.Seq), terminal.Moment(t.UpdatedAt)}
}

func (c *commands) threadsCommand() *cobra.Command {
	var session string
	listing := &cobra.Command{
		Use: "list", Short: "List the threads of a session, the last used first", Args: exactly(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.open(cmd.Context(), func(_ *config.Config, b *Backend) error {
				own, err := b.Threads.Threads(cmd.Context(), chela.SessionKey(session))
				if err != nil {
					return notThere(err, "see chela sessions list")
				}
				return list(c.p, own, threadHead, threadRow)
			})
		},
	}
	listing.Flags().StringVar(&session, "session", string(chela.MainKey("main")), "session key")
	return group("threads", "Look at threads", listing,
		&cobra.Command{
			Use: "show ID", Short: "Show what was said in a thread", Args: exactly(1),
			RunE: func(cmd *cobra.Command, args []string) error {
				return c.open(cmd.Context(), func(_ *config.Config, b *Backend) error {
					return c.threadShow(cmd.Context(), b, chela.ThreadID(args[0]))
				})
			},
		},
	)
}

func (c *commands) threadShow(ctx context.Context, b *Backend, id chela.ThreadID) error {
	t, err := b.Threads.Thread(ctx, id)
	if err != nil {
		return notThere(err, "see chela threads list")
	}
	path, err := b.Threads.Path(ctx, id)
	if err != nil {
		return err
	}
	if c.p.json {
		return c.p.document(struct {
			chela.Thread
			Entries []chela.Entry `json:"entries"`
		}{t, path})
	}
	c.p.fields(
		[2]string{"thread", string(t.ID)}, [2]string{"session", string(t.Session)}, [2]string{"title", t.Title},
		[2]string{"state", string(t.State)}, [2]string{"updated", terminal.Moment(t.UpdatedAt)},
	)
	for _, e := range path {
		c.entry(e)
	}
	return nil
}

// entry prints one entry for people.
func (c *commands) entry(e chela.Entry) {
	head := string(e.Kind)
	if e.Body.Tool != "" {
		head += " " + e.Body.Tool + " " + string(e.Body.Status)
	}
	if e.Body.Interrupted {
		head += " (interrupted)"
	}
	c.p.Line("\n" + terminal.Moment(e.CreatedAt) + "  " + terminal.Visible(head))
	if e.Body.Text != "" {
		c.p.Line("  " + strings.ReplaceAll(strings.TrimRight(e.Body.Text, "\n"), "\n", "\n  "))
	}
	for _, a := range e.Body.Attachments {
		c.p.Line(fmt.Sprintf("  [%s, %s, %d bytes]", a.Name, a.MediaType, a.Size))
	}
	for _, call := range e.Body.Calls {
		args := string(call.Args)
		if args == "" {
			args = call.Raw
		}
		c.p.Line("  · " + terminal.OneLine(call.Tool, 80) + " " + terminal.Brief(args))
	}
}
