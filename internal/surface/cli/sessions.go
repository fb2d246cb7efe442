package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"chela"
	"chela/internal/api"
	"chela/internal/config"
	"chela/internal/engine/session"
	"chela/internal/surface/cli/console"
	"chela/internal/surface/terminal"
)

func (c *commands) sessionsCommand() *cobra.Command {
	return console.Group("sessions", "Look at sessions, change them and write them down", []*cobra.Command{
		{
			Use: "list", Short: "List the sessions, the last used first", Args: console.Exactly(0),
			RunE: c.inHome(func(ctx context.Context, b *Backend, _ []string) error {
				all, err := api.All(ctx, b.API, api.SessionsList, api.SessionFilter{Archived: true, Limit: api.MaxPage})
				if err != nil {
					return err
				}
				slices.SortStableFunc(all, func(a, b chela.Session) int { return b.UpdatedAt.Compare(a.UpdatedAt) })
				return console.List(c.p, all, []string{"KEY", "LABEL", "THREAD", "UPDATED"}, sessionRow)
			}),
		},
		{
			Use: "show KEY", Short: "Show one session and its threads", Args: console.Exactly(1),
			RunE: c.inHome(func(ctx context.Context, b *Backend, args []string) error {
				return c.sessionShow(ctx, b, chela.SessionKey(args[0]))
			}),
		},
		{
			Use: "reset KEY", Short: "Start a new thread in a session; the old one stays", Args: console.Exactly(1),
			RunE: c.inHome(func(ctx context.Context, b *Backend, args []string) error {
				return c.threadBegin(ctx, b, chela.SessionKey(args[0]), "")
			}),
		},
		c.sessionSetCommand(), c.exporting(), c.importing(),
	}...)
}

func sessionRow(s chela.Session) []string {
	return []string{string(s.Key), s.Settings.Label, string(s.Thread), terminal.Moment(s.UpdatedAt)}
}

func (c *commands) sessionShow(ctx context.Context, b *Backend, key chela.SessionKey) error {
	s, err := api.Call(ctx, b.API, api.SessionsShow, api.SessionRef{Key: key})
	if err != nil {
		return console.NotThere(err, "see chela sessions list")
	}
	own, err := threadsOf(ctx, b.API, key)
	if err != nil {
		return err
	}
	if c.p.JSON {
		return c.p.Document(struct {
			api.Session
			Threads []chela.Thread `json:"threads"`
		}{s, own})
	}
	u := s.Usage
	c.p.Fields(slices.Concat([][2]string{{"key", string(s.Key)}, {"agent", s.Agent}}, settingFields(s.Settings), [][2]string{
		{"tokens in", count(u.Input)},
		{"tokens out", count(u.Output)},
		{"cache read", count(u.CacheRead)},
		{"cache write", count(u.CacheWrite)},
		{"reasoned", count(u.Reasoning)},
		{"created", terminal.Moment(s.CreatedAt)},
		{"updated", terminal.Moment(s.UpdatedAt)},
	})...)
	c.p.Line("")
	return console.List(c.p, own, threadHead, threadRow)
}

// settingFields are the settings of a session that are set, and its remembered
// state.
func settingFields(s chela.Settings) [][2]string {
	place := []string{s.Last.Channel, s.Last.Account, s.Last.To, s.Last.Thread}
	return [][2]string{
		{"label", s.Label},
		{"name", s.DisplayName},
		{"chat", s.ChatType},
		{"subject", s.Subject},
		{"space", s.Space},
		{"model", s.Model},
		{"thinking", string(s.Thinking)},
		{"verbose", s.Verbose},
		{"reasoning", s.Reasoning},
		{"response usage", s.ResponseUsage},
		{"elevated", s.Elevated},
		{"queue mode", string(s.Queue.Mode)},
		{"queue debounce ms", count(s.Queue.DebounceMS)},
		{"queue cap", count(s.Queue.Cap)},
		{"queue drop", string(s.Queue.Drop)},
		{"spawned by", string(s.SpawnedBy)},
		{"archived", terminal.Moment(s.ArchivedAt)},
		{"compactions", count(s.Compactions)},
		{"memory flushes", count(s.MemoryFlushes)},
		{"memory flushed", terminal.Moment(s.MemoryFlushedAt)},
		{"last from", strings.Join(slices.DeleteFunc(place, func(part string) bool { return part == "" }), " ")},
	}
}

// count formats a number, and nothing for none.
func count[N int | int64](n N) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}

func (c *commands) sessionSetCommand() *cobra.Command {
	return &cobra.Command{
		Use: "set KEY NAME=VALUE...", Short: "Change settings of a session; nothing after = leaves one to the agent and the home",
		Args: console.AtLeast(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			patch, err := session.Patch(args[1:])
			if err != nil {
				return err
			}
			return c.open(cmd.Context(), func(_ *config.Config, b *Backend) error {
				_, err := api.Call(cmd.Context(), b.API, api.SessionsChange, api.SessionChange{
					SessionRef: api.SessionRef{Key: chela.SessionKey(args[0])}, Settings: patch,
				})
				if err != nil {
					return console.NotThere(err, "see chela sessions list")
				}
				return c.sessionShow(cmd.Context(), b, chela.SessionKey(args[0]))
			})
		},
	}
}
