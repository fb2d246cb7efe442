package cli

import (
	"context"

	"github.com/spf13/cobra"

	"chela"
	"chela/internal/channel/terminal"
	"chela/internal/cli/manners"
)

func (c *commands) sessionsCommand() *cobra.Command {
	return manners.Group("sessions", "Look at sessions and reset them",
		&cobra.Command{
			Use: "list", Short: "List the sessions, the last used first", Args: manners.Exactly(0),
			RunE: c.inHome(func(ctx context.Context, b *Backend, _ []string) error {
				all, err := b.Sessions.Sessions(ctx)
				if err != nil {
					return err
				}
				return manners.List(c.p, all, []string{"KEY", "LABEL", "THREAD", "UPDATED"}, sessionRow)
			}),
		},
		&cobra.Command{
			Use: "show KEY", Short: "Show one session and its threads", Args: manners.Exactly(1),
			RunE: c.inHome(func(ctx context.Context, b *Backend, args []string) error {
				return c.sessionShow(ctx, b, chela.SessionKey(args[0]))
			}),
		},
		&cobra.Command{
			Use: "reset KEY", Short: "Begin a new thread in a session; the old one stays", Args: manners.Exactly(1),
			RunE: c.inHome(func(ctx context.Context, b *Backend, args []string) error {
				return c.sessionReset(ctx, b, chela.SessionKey(args[0]))
			}),
		},
	)
}

func sessionRow(s chela.Session) []string {
	return []string{string(s.Key), s.Settings.Label, string(s.Thread), terminal.Moment(s.UpdatedAt)}
}

func (c *commands) sessionShow(ctx context.Context, b *Backend, key chela.SessionKey) error {
	s, err := b.Sessions.Session(ctx, key)
	if err != nil {
		return manners.NotThere(err, "see chela sessions list")
	}
	own, err := b.Threads.Threads(ctx, key)
	if err != nil {
		return err
	}
	if c.p.JSON {
		return c.p.Document(struct {
			chela.Session
			Threads []chela.Thread `json:"threads"`
		}{s, own})
	}
	c.p.Fields(
		[2]string{"key", string(s.Key)}, [2]string{"agent", s.Agent}, [2]string{"label", s.Settings.Label},
		[2]string{"model", s.Settings.Model}, [2]string{"queue mode", string(s.Settings.Queue.Mode)},
		[2]string{"created", terminal.Moment(s.CreatedAt)}, [2]string{"updated", terminal.Moment(s.UpdatedAt)},
	)
	c.p.Line("")
	return manners.List(c.p, own, threadHead, threadRow)
}

func (c *commands) sessionReset(ctx context.Context, b *Backend, key chela.SessionKey) error {
	t, err := b.Reset(ctx, key)
	if err != nil {
		return manners.NotThere(err, "see chela sessions list")
	}
	if c.p.JSON {
		return c.p.Document(t)
	}
	c.p.Fields([2]string{"session", string(t.Session)}, [2]string{"thread", string(t.ID)})
	return nil
}
