package cli

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"chela"
	"chela/internal/api"
	"chela/internal/surface/terminal"
)

// noticesCommand returns the command that lists the unread notices and marks them as
// read.
func (c *commands) noticesCommand() *cobra.Command {
	type arguments struct {
		Seen bool `flag:"seen" help:"mark the listed notices as read"`
	}
	return command(c, "notices", "List the unread notices, oldest first", func(ctx context.Context, b *Backend, in arguments) error {
		b.Leave()
		found, err := api.All(ctx, b, api.NoticesList, api.NoticeQuery{})
		if err != nil {
			return err
		}
		if err := noticeRows(c).list(c, found); err != nil || !in.Seen {
			return err
		}
		for part := range slices.Chunk(found, api.MaxPage) {
			var ids []chela.OutboxID
			for _, o := range part {
				ids = append(ids, o.ID)
			}
			if _, err := api.Call(ctx, b, api.NoticesSeen, api.NoticeIDs{IDs: ids}); err != nil {
				return err
			}
		}
		return nil
	})
}

// notifyCommand returns the command that tests where notices are pushed to.
func (c *commands) notifyCommand() *cobra.Command {
	return terminal.Group("notify", "Tell people outside of a chat", derived(c, api.NotifyTry, func(ctx context.Context, b *Backend, in api.NotifyTest) error {
		return (&terminal.Person{Printer: c.Printer, Connection: b.Connection}).TryNotices(ctx, in)
	}))
}

func noticeRows(c *commands) table[chela.Outbound] {
	return table[chela.Outbound]{head: "AT\tNOTICE", none: "no notice is unread", row: func(o chela.Outbound) []any {
		return []any{c.Moment(o.CreatedAt), o.Text}
	}}
}
