package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"chela"
	"chela/internal/api"
	"chela/internal/engine/session"
	"chela/internal/surface/terminal"
)

func (c *commands) sessionsCommand() *cobra.Command {
	return terminal.Group("sessions", "Look at sessions, change them and write them down",
		command(c, "list", "List the sessions, the last used first", c.sessionsList),
		command(c, "show", "Show one session and its threads", c.sessionShow), derived(c, api.SessionsReset, call(c, api.SessionsReset, c.thread)),
		c.sessionSetCommand(), c.exporting(), c.importing(),
	)
}

func (c *commands) sessionsList(ctx context.Context, b *Backend, _ api.None) error {
	all, err := api.All(ctx, b, api.SessionsList, api.SessionFilter{Archived: true, Limit: api.MaxPage})
	if err != nil {
		return err
	}
	slices.SortStableFunc(all, func(a, b chela.Session) int { return b.UpdatedAt.Compare(a.UpdatedAt) })
	return table[chela.Session]{head: "KEY\tLABEL\tTHREAD\tUPDATED", none: "there are no sessions; chela ask TEXT begins the main one", row: func(s chela.Session) []any {
		return []any{s.Key, s.Settings.Label, s.Thread, s.UpdatedAt}
	}}.list(c, all)
}

func (c *commands) sessionShow(ctx context.Context, b *Backend, ref api.SessionRef) error {
	s, err := api.Call(ctx, b, api.SessionsShow, ref)
	if err != nil {
		return terminal.NotThere(err, "see chela sessions list")
	}
	own, err := threadsOf(ctx, b, ref.Key)
	if err != nil {
		return err
	}
	type shown struct {
		api.Session
		Threads []chela.Thread `json:"threads"`
	}
	return answer(c, shown{s, own}, nil, func(shown) {
		u := s.Usage
		c.Fields(slices.Concat([]any{"key", s.Key, "agent", s.Agent}, settingFields(s.Settings), []any{
			"tokens in", count(u.Input), "tokens out", count(u.Output), "cache read", count(u.CacheRead), "cache write", count(u.CacheWrite),
			"reasoned", count(u.Reasoning), "created", s.CreatedAt, "updated", s.UpdatedAt,
		})...)
		c.Line("")
		threads.write(c, own)
	})
}

// settingFields are the settings of a session that are set, and its remembered
// state.
func settingFields(s chela.Settings) []any {
	place := []string{s.Last.Channel, s.Last.Account, s.Last.To, s.Last.Thread}
	return []any{
		"label", s.Label, "name", s.DisplayName, "chat", s.ChatType, "subject", s.Subject, "space", s.Space,
		"model", s.Model, "thinking", s.Thinking, "verbose", s.Verbose, "reasoning", s.Reasoning,
		"response usage", s.ResponseUsage, "elevated", s.Elevated, "profile", s.Profile,
		"queue mode", s.Queue.Mode, "queue debounce ms", count(s.Queue.DebounceMS), "queue cap", count(s.Queue.Cap), "queue drop", s.Queue.Drop,
		"spawned by", s.SpawnedBy, "archived", s.ArchivedAt, "compactions", count(s.Compactions),
		"memory flushes", count(s.MemoryFlushes), "memory flushed", s.MemoryFlushedAt,
		"last from", strings.Join(slices.DeleteFunc(place, func(part string) bool { return part == "" }), " "),
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
	type arguments struct {
		api.SessionRef
		Pairs []string `arg:"NAME=VALUE..."`
	}
	const use = "Change settings of a session; nothing after = leaves one to the agent and the home"
	cmd := terminal.Command("set", use, func(ctx context.Context, in arguments) error {
		patch, err := session.Patch(in.Pairs)
		if err != nil {
			return err
		}
		return c.open(ctx, func(b *Backend) error {
			if _, err := api.Call(ctx, b, api.SessionsChange, api.SessionChange{SessionRef: in.SessionRef, Settings: patch}); err != nil {
				return terminal.NotThere(err, "see chela sessions list")
			}
			return c.sessionShow(ctx, b, in.SessionRef)
		})
	})
	cmd.Use, cmd.Args = "set KEY NAME=VALUE...", terminal.Between(2, terminal.Many)
	return cmd
}
