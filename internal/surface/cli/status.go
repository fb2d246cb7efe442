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
	"chela/internal/surface/cli/console"
)

func (c *commands) statusCommand() *cobra.Command {
	return &cobra.Command{
		Use: "status", Short: "Show the state of the home", Args: console.Exactly(0),
		RunE: c.inHome(func(ctx context.Context, b *Backend, _ []string) error {
			s, err := api.Call(ctx, b.API, api.StatusShow, api.None{})
			if err != nil {
				return err
			}
			if c.p.JSON {
				return c.p.Document(s)
			}
			daemon := "not running"
			if s.Daemon {
				daemon = strings.TrimSpace("running " + s.Listen)
			}
			c.p.Fields(
				[2]string{"home", s.Home}, [2]string{"database", s.Database}, [2]string{"model", s.Model},
				[2]string{"sandbox", s.Sandbox}, [2]string{"daemon", daemon}, [2]string{"sessions", fmt.Sprint(s.Sessions)},
				[2]string{"open turns", fmt.Sprint(s.TurnsOpen)},
				[2]string{"pending approvals", fmt.Sprint(s.ApprovalsPending)},
				[2]string{"messages waiting", fmt.Sprint(s.InboxWaiting)},
				[2]string{"replies owed", fmt.Sprint(s.OutboxPending)},
				[2]string{"jobs", jobsOf(s.Jobs)}, [2]string{"routines", c.routinesOf(s.Routines)},
				[2]string{"runs of routines", fmt.Sprintf("%d running, %d waiting", s.Routines.RunsRunning, s.Routines.RunsWaiting)},
				[2]string{"heartbeat", c.heartbeatOf(s.Routines)},
			)
			return nil
		}),
	}
}

// jobsOf counts unfinished jobs by state.
func jobsOf(live map[chela.JobState]int) string {
	var said []string
	for _, state := range slices.Sorted(maps.Keys(live)) {
		said = append(said, fmt.Sprintf("%d %s", live[state], strings.ReplaceAll(string(state), "_", " ")))
	}
	return cmp.Or(strings.Join(said, ", "), "none under way")
}

func (c *commands) routinesOf(s api.RoutineStatus) string {
	said := fmt.Sprintf("%d on, %d off", s.Enabled, s.Idle)
	switch {
	case s.Off:
		said += "; routines.enabled is false: they fire only manually"
	case s.Next != "":
		said += "; next is " + s.Next + " at " + c.p.Moment(s.NextAt)
	}
	return said
}

func (c *commands) heartbeatOf(s api.RoutineStatus) string {
	said := "off"
	if s.Heartbeat && !s.Off {
		said = "on"
	}
	if !s.HeartbeatAt.IsZero() {
		said += ", last at " + c.p.Moment(s.HeartbeatAt)
	}
	return said
}

func (c *commands) doctorCommand() *cobra.Command {
	return &cobra.Command{
		Use: "doctor", Short: "Check the home for problems and show how to fix them", Args: console.Exactly(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			found := []api.Finding{api.Well("config", "every setting is valid")}
			if cfg, err := c.asking(cmd.Context(), ""); err != nil {
				found = []api.Finding{api.Unwell("config", err)}
			} else {
				found = append(found, c.Examine(cmd.Context(), cfg)...)
			}
			return c.findings(found)
		},
	}
}

// findings prints the findings of doctor; a failed check is an error.
func (c *commands) findings(found []api.Finding) error {
	if c.p.JSON {
		if err := c.p.Document(found); err != nil {
			return err
		}
	} else {
		for _, f := range found {
			c.p.Finding(f.OK, f.Subject, f.Text, f.Cure)
		}
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
