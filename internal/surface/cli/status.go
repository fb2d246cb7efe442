package cli

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"chela"
	"chela/internal/api"
)

func (c *commands) statusCommand() *cobra.Command {
	cmd := named("status", derived(c, api.StatusShow, call(c, api.StatusShow, c.status)))
	cmd.Short = "Show the state of the home"
	return cmd
}

// status writes the state of a home for people.
func (c *commands) status(s api.Status) {
	daemon := "not running"
	if s.Daemon {
		daemon = strings.TrimSpace("running " + s.Listen)
	}
	c.Fields(
		"home", s.Home, "database", s.Database, "model", s.Model, "sandbox", s.Sandbox.Summary(), "daemon", daemon, "sessions", s.Sessions,
		"open turns", s.TurnsOpen, "pending approvals", s.ApprovalsPending, "messages waiting", s.InboxWaiting, "replies owed", s.OutboxPending,
		"jobs", jobsOf(s.Jobs), "routines", c.routinesOf(s.Routines),
		"runs of routines", fmt.Sprintf("%d running, %d waiting", s.Routines.RunsRunning, s.Routines.RunsWaiting),
		"heartbeat", c.heartbeatOf(s.Routines), "folders", foldersOf(s.Folders),
	)
}

// jobsOf counts unfinished jobs by state.
func jobsOf(live map[chela.JobState]int) string {
	var said []string
	for _, state := range slices.Sorted(maps.Keys(live)) {
		said = append(said, fmt.Sprintf("%d %s", live[state], plain(string(state))))
	}
	return cmp.Or(strings.Join(said, ", "), "none under way")
}

// foldersOf lists folders by their paths.
func foldersOf(all []chela.Folder) string {
	var paths []string
	for _, f := range all {
		paths = append(paths, f.Path)
	}
	return strings.Join(paths, ", ")
}

func (c *commands) routinesOf(s api.RoutineStatus) string {
	said := fmt.Sprintf("%d on, %d off", s.Enabled, s.Idle)
	switch {
	case s.Off:
		said += "; routines.enabled is false: they fire only manually"
	case s.Next != "":
		said += "; next is " + s.Next + " at " + c.Moment(s.NextAt)
	}
	return said
}

func (c *commands) heartbeatOf(s api.RoutineStatus) string {
	said := "off"
	if s.Heartbeat && !s.Off {
		said = "on"
	}
	if !s.HeartbeatAt.IsZero() {
		said += ", last at " + c.Moment(s.HeartbeatAt)
	}
	return said
}

// doctor checks the home; a failed check is an error.
func (c *commands) doctor(ctx context.Context, _ api.None) error {
	found := []api.Finding{api.Well("config", "every setting is valid")}
	if cfg, err := c.asking(ctx, ""); err != nil {
		found = []api.Finding{api.Unwell("config", err)}
	} else {
		found = append(found, c.Homes.Examine(ctx, cfg)...)
	}
	err := answer(c, found, nil, func(found []api.Finding) {
		for _, f := range found {
			c.Finding(f.OK, f.Subject, f.Text, f.Cure)
		}
	})
	if err != nil {
		return err
	}
	bad := 0
	for _, f := range found {
		if !f.OK {
			bad++
		}
	}
	if bad > 0 {
		return chela.E(chela.Unavailable, fmt.Sprintf("%d of %d findings need a cure", bad, len(found))).
			WithHint("see the hint below each")
	}
	return nil
}
