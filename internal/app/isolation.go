package app

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"

	"chela"
	"chela/internal/config"
	"chela/internal/tool/sandbox"
	"chela/internal/tool/sandbox/docker"
	"chela/internal/tool/sandbox/isolation"
)

// newIsolation returns the sandbox of commands that the settings select. Its
// containers carry the name of the owner, a node, and of the home.
func newIsolation(cfg *config.Config, owner chela.NodeID) (*isolation.Isolation, error) {
	s := cfg.Sandbox
	hosts := docker.Hosts(cfg.RuntimeDir, cfg.UserHome)
	if s.Host != "" {
		hosts = []string{s.Host}
	}
	home, err := homeLabel(cfg.Home)
	if err != nil {
		return nil, err
	}
	return isolation.New(isolation.Config{
		Mode: isolation.Mode(s.Mode), Refusal: s.Permitted(), Limits: limitsOf(s),
		Docker: docker.Config{
			Hosts: hosts, Image: s.Image, Policy: sandbox.Policy(s.Policy), Memory: int64(s.Memory) * mib, Shares: int64(s.CPUShares),
			Home: home, Owner: string(owner),
		},
	})
}

// homeLabel names a home of this machine without telling its path: an engine may
// serve several machines and users.
func homeLabel(home config.Home) (string, error) {
	machine, err := os.Hostname()
	if err != nil {
		return "", chela.E(chela.Unavailable, "the name of this machine is not known").Because(err)
	}
	sum := sha256.Sum256([]byte(machine + "\x00" + string(home)))
	return hex.EncodeToString(sum[:8]), nil
}

// limitsOf returns the limits of commands. One process may map more memory than a
// whole command may use.
func limitsOf(s config.Sandbox) sandbox.Limits {
	l := sandbox.Limits{
		Processes: s.Processes, TotalMemory: int64(s.Memory) * mib, CPU: s.CPUTime,
		WorkspaceSize: int64(s.WorkspaceSize) * mib, WorkspaceFiles: s.WorkspaceFiles,
	}
	l.Memory = max(l.TotalMemory, sandbox.Limits{}.WithDefaults().Memory)
	return l
}

// reap removes the containers of processes of this home that died.
func (a *App) reap(ctx context.Context) {
	box := a.isolation.Containers(ctx)
	if a.cfg.Jobs.Isolation == config.JobsContainer {
		box = a.isolation.Engine()
	}
	if box == nil {
		return
	}
	n, err := box.Reap(ctx, func(owner string) bool { return a.presence.Alive(chela.NodeID(owner)) })
	if err != nil {
		a.log.Warn("containers of dead processes not removed", "error", err)
	} else if n > 0 {
		a.log.Info("containers of dead processes removed", "count", n)
	}
}
