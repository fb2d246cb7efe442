// Package isolation selects the sandbox in which commands run, and reports it.
//
//	auto      process, where the kernel allows it; else docker; else no command runs
//	process   processes under kernel features (package process), or no command runs
//	docker    containers of Docker or Podman (package docker), or no command runs
//	off       unconfined; only if the operator has accepted that too
//
// A sandbox that does not work is never replaced by none: the command fails with
// the reason and the cure. The selection is made by the first command, or by
// [Isolation.Report], and stays for the life of the process; a failed one is
// repeated, so that a repaired machine needs no restart.
package isolation

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"chela"
	"chela/internal/api"
	"chela/internal/tool/sandbox"
	"chela/internal/tool/sandbox/docker"
	"chela/internal/tool/sandbox/process"
)

// A Mode is the value of the setting sandbox.mode.
type Mode string

// The modes.
const (
	Auto    Mode = "auto"
	Process Mode = "process"
	Docker  Mode = "docker"
	Off     Mode = "off"
)

// Config holds the settings of an [Isolation].
type Config struct {
	Mode    Mode
	Refusal error          // why no command may run, such as that nobody accepted mode Off; nil for none
	Limits  sandbox.Limits // default limits of a command
	Docker  docker.Config  // its Policy is that of every mode, its Limits are set from Limits

	NoNamespaces bool // disables namespaces, as on a machine that forbids them

	Tools sandbox.ToolFinder // as in the configurations of the sandboxes
}

// An Isolation runs commands in the selected sandbox. It is safe for concurrent
// use.
type Isolation struct {
	cfg     Config
	process *process.Sandbox
	docker  *docker.Sandbox

	mu       sync.Mutex
	selected confinement // guarded by mu; nil until one works
}

// A confinement runs commands, and says how it confines them. Its errors are those
// of packages process and docker.
type confinement interface {
	Run(ctx context.Context, spec sandbox.Spec) (sandbox.Result, error)
	Setting(ctx context.Context) (sandbox.Setting, error)
	Check(ctx context.Context) error
	Describe(ctx context.Context) (api.Isolation, error)
}

// New returns an isolation. It looks at neither kernel nor engine. Invalid
// settings are an Invalid error.
func New(cfg Config) (*Isolation, error) {
	cfg.Docker.Limits, cfg.Docker.Tools = cfg.Limits, cfg.Tools
	i := &Isolation{cfg: cfg, process: process.New(process.Config{
		Off: cfg.Mode == Off, NoNamespaces: cfg.NoNamespaces, ReadOnly: cfg.Docker.Policy == sandbox.ReadOnly, Limits: cfg.Limits, Tools: cfg.Tools, Warm: true,
	})}
	var err error
	if i.docker, err = docker.New(cfg.Docker); err != nil {
		return nil, err
	}
	return i, nil
}

// Close closes the connection to a container engine, and ends the worker that
// waits for a command.
func (i *Isolation) Close() error { return errors.Join(i.process.Close(), i.docker.Close()) }

// Run runs the command and everything it starts to completion in the selected
// sandbox. Without one nothing runs, and the error is Unsupported, or
// Config.Refusal.
func (i *Isolation) Run(ctx context.Context, spec sandbox.Spec) (sandbox.Result, error) {
	c, err := i.selection(ctx)
	if err != nil {
		return sandbox.Result{}, err
	}
	return c.Run(ctx, spec)
}

// Setting returns the setting of the next command. Without a usable sandbox it names
// none.
func (i *Isolation) Setting(ctx context.Context) (sandbox.Setting, error) {
	c, err := i.selection(ctx)
	switch {
	case ctx.Err() != nil:
		return sandbox.Setting{}, context.Cause(ctx)
	case err != nil:
		return sandbox.Setting{Confinement: "none"}, nil // the command is refused with the reason
	default:
		return c.Setting(ctx)
	}
}

// Containers returns the sandbox of containers if that is the selected one, else
// nil.
func (i *Isolation) Containers(ctx context.Context) *docker.Sandbox {
	if c, err := i.selection(ctx); err != nil || c != confinement(i.docker) {
		return nil
	}
	return i.docker
}

// Engine returns the sandbox of containers, whether or not it is the selected one.
func (i *Isolation) Engine() *docker.Sandbox { return i.docker }

// selection returns the sandbox in use.
func (i *Isolation) selection(ctx context.Context) (confinement, error) {
	if i.cfg.Refusal != nil {
		return nil, i.cfg.Refusal
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.selected != nil {
		return i.selected, nil
	}
	c, err := i.choose(ctx)
	if err == nil {
		i.selected = c
	}
	return c, err
}

func (i *Isolation) choose(ctx context.Context) (confinement, error) {
	root := i.cfg.Docker.Policy == sandbox.FullAccess // which only a container can give
	switch i.cfg.Mode {
	case Off:
		return i.process, nil
	case Process:
		if root {
			return nil, chela.E(chela.Unsupported, "sandbox.policy full_access needs containers, and sandbox.mode is process").
				WithHint("chela config set sandbox.mode docker, or chela config set sandbox.policy workspace_write")
		}
		return i.process, i.process.Check(ctx)
	case Docker:
		return i.docker, i.docker.Check(ctx)
	}
	var refusal error = chela.E(chela.Unsupported, "sandbox.policy full_access needs containers")
	if !root {
		if refusal = i.process.Check(ctx); refusal == nil {
			return i.process, nil
		}
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	err := i.docker.Check(ctx)
	if err == nil {
		return i.docker, nil
	}
	return nil, neither(root, refusal, err)
}

// neither is the error of a machine on which no sandbox works.
func neither(root bool, process, docker error) error {
	hint := chela.HintOf(docker)
	if !root {
		hint = chela.HintOf(process) + "; or " + hint
	}
	return chela.E(chela.Unsupported, fmt.Sprintf("no sandbox works on this machine: %s, and %s", textOf(process), textOf(docker))).
		WithHint(hint + "; or run commands unconfined with sandbox.mode off and --insecure").Because(errors.Join(process, docker))
}

// textOf returns the message of an error without its hint.
func textOf(err error) string { return api.Unwell("", err).Text }

// Report returns how commands are confined, and what that leaves open.
func (i *Isolation) Report(ctx context.Context) api.Isolation {
	var d api.Isolation
	c, err := i.selection(ctx)
	if err == nil {
		d, err = c.Describe(ctx)
	}
	if err != nil {
		d = api.Isolation{Trouble: textOf(err), Cure: chela.HintOf(err)}
	}
	d.Mode, d.Policy = string(i.cfg.Mode), string(i.cfg.Docker.Policy)
	switch {
	case d.Tier == "":
	case i.cfg.Mode == Off:
		d.Policy, d.Network = string(sandbox.FullAccess), "the whole network of this machine"
		d.Gaps = []api.IsolationGap{{Text: "commands run with all your rights", Cure: "chela config set sandbox.mode auto"}}
	default:
		d.Network = "none"
	}
	d.Limits = i.limits(d.Tier == "docker")
	return d
}

// limits describes the limits of a command for people.
func (i *Isolation) limits(container bool) []string {
	l := i.cfg.Limits.WithDefaults()
	limits := []string{
		sandbox.Size(l.TotalMemory) + " of memory", fmt.Sprintf("%d processes and threads", l.Processes),
		fmt.Sprintf("%s of processor time of each process", l.CPU), sandbox.Size(l.FileSize) + " for a file", sandbox.Size(l.TmpSize) + " in /tmp",
		sandbox.Size(l.WorkspaceSize) + fmt.Sprintf(" and %d files in the workspace", l.WorkspaceFiles),
	}
	if container {
		limits = append(limits, fmt.Sprintf("a processor share of %d against 1024", i.cfg.Docker.Shares))
	}
	return limits
}
