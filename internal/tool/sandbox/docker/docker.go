// Package docker runs commands in containers of a Docker engine, or of Podman,
// which speaks the same API.
//
// Each command has a container of its own, which is removed after it: without
// capabilities and new privileges, without a network, with a read-only root, the
// limits of the command as limits of its cgroup, and the workspace at
// [sandbox.Root]. The root file system is an image that is made of this binary,
// without any registry; programs come from the host's /usr and its like, mounted
// read-only, or from an image that the owner names.
//
// A container carries labels with the home and the process that started it, so
// that containers of a process that died are found and removed (see Reap).
package docker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/moby/moby/api/pkg/stdcopy"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/mount"
	"github.com/moby/moby/client"

	"chela"
	"chela/internal/tool/sandbox"
)

// A Policy says what commands may write.
type Policy string

// The policies.
const (
	ReadOnly       Policy = "readonly"        // nothing but /tmp
	WorkspaceWrite Policy = "workspace_write" // the workspace; the default
	FullAccess     Policy = "full_access"     // the container's own root too
)

// Config holds the options of a [Sandbox]. The zero value works.
type Config struct {
	Host   string // of the engine, such as unix:///run/docker.sock; empty takes DOCKER_HOST and its default
	Image  string // with a shell and programs; empty makes one of this binary, with the host's programs
	Policy Policy
	Limits sandbox.Limits // default limits of a command
	Memory int64          // bytes, if the limits say nothing; default 2 GiB
	Shares int64          // of the processor, relative to 1024; default 1024

	Home  string // names the home in labels; not a path
	Owner string // names this process in labels
}

// The labels of a container.
const (
	labelHome  = "chela.home"
	labelOwner = "chela.owner"
)

// A Sandbox runs commands. It is safe for concurrent use.
type Sandbox struct {
	cfg    Config
	engine *client.Client
	image  imageOnce
}

// New returns a sandbox. It does not connect; Check and the first Run do.
func New(cfg Config) (*Sandbox, error) {
	switch cfg.Policy = cmp.Or(cfg.Policy, WorkspaceWrite); cfg.Policy {
	case ReadOnly, WorkspaceWrite, FullAccess:
	default:
		return nil, chela.E(chela.Invalid, "sandbox policy "+string(cfg.Policy)+" does not exist").
			WithHint("use readonly, workspace_write or full_access")
	}
	options := []client.Opt{client.WithHostFromEnv(), client.WithTLSClientConfigFromEnv()}
	if cfg.Host != "" {
		options = append(options, client.WithHost(cfg.Host))
	}
	engine, err := client.New(options...)
	if err != nil {
		return nil, chela.E(chela.Invalid, "the address of the container engine is not valid").Because(err)
	}
	cfg.Memory, cfg.Shares = cmp.Or(cfg.Memory, 2<<30), cmp.Or(cfg.Shares, 1024)
	return &Sandbox{cfg: cfg, engine: engine}, nil
}

// Close closes the connections to the engine.
func (s *Sandbox) Close() error { return s.engine.Close() }

// Check returns nil if the engine answers, else an Unsupported error with a hint.
func (s *Sandbox) Check(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	if _, err := s.engine.Ping(ctx, client.PingOptions{}); err != nil {
		return chela.E(chela.Unsupported, "no container engine answers").Because(err).
			WithHint("start Docker or Podman, or set sandbox.mode to process")
	}
	return nil
}

// Run runs the command and everything it starts to completion, like the Run of
// package process.
func (s *Sandbox) Run(ctx context.Context, spec sandbox.Spec) (sandbox.Result, error) {
	if err := s.Check(ctx); err != nil {
		return sandbox.Result{}, err
	}
	image, err := s.imageFor(ctx)
	if err != nil {
		return sandbox.Result{}, err
	}
	options, err := s.container(spec, image)
	if err != nil {
		return sandbox.Result{}, err
	}
	made, err := s.engine.ContainerCreate(ctx, options)
	if err != nil {
		return sandbox.Result{}, failed("create a container", err)
	}
	// The container is removed also if ctx has ended.
	clean, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	defer s.remove(clean, made.ID)
	return s.follow(ctx, clean, made.ID, spec)
}

// follow starts a container and returns how it ended. clean outlives ctx.
func (s *Sandbox) follow(ctx, clean context.Context, id string, spec sandbox.Spec) (res sandbox.Result, err error) {
	attached, err := s.engine.ContainerAttach(ctx, id, client.ContainerAttachOptions{Stream: true, Stdout: true, Stderr: true})
	if err != nil {
		return res, failed("attach to a container", err)
	}
	output := sandbox.NewOutput("", spec.Output)
	copied := make(chan struct{})
	go func() { // the receive below waits for it
		defer close(copied)
		_, _ = stdcopy.StdCopy(output, output, attached.Reader) // ends with the container or the connection
	}()
	began := time.Now()
	if _, err = s.engine.ContainerStart(ctx, id, client.ContainerStartOptions{}); err == nil {
		res.ExitCode, res.TimedOut, err = s.wait(ctx, clean, id, spec.Timeout)
	} else {
		err = failed("start a container", err)
	}
	select {
	case <-copied:
	case <-time.After(5 * time.Second): // a container that is gone sends nothing more
	}
	attached.Close()
	<-copied
	_ = output.Close() // it never fails
	res.Took = time.Since(began)
	res.Output, res.Dropped = output.Text()
	if err != nil {
		return res, err
	}
	if res.ExitCode > 128 && res.ExitCode < 128+65 {
		res.Signal = signalName(res.ExitCode - 128)
	}
	if at, inspected := s.engine.ContainerInspect(clean, id, client.ContainerInspectOptions{}); inspected == nil && at.Container.State.OOMKilled {
		res.Exceeded = "used more memory than its limit"
	}
	if ctx.Err() != nil {
		return res, context.Cause(ctx)
	}
	return res, nil
}

// wait returns the exit code of a container, which it kills at the timeout and
// when ctx is done.
func (s *Sandbox) wait(ctx, clean context.Context, id string, timeout time.Duration) (code int, timedOut bool, err error) {
	waited := s.engine.ContainerWait(clean, id, client.ContainerWaitOptions{Condition: container.WaitConditionNotRunning})
	var over <-chan time.Time
	if timeout > 0 {
		timer := time.NewTimer(timeout)
		defer timer.Stop()
		over = timer.C
	}
	done := ctx.Done()
	for {
		select {
		case r := <-waited.Result:
			if r.Error != nil {
				return 0, timedOut, chela.E(chela.Internal, "the container engine lost the command").Because(errors.New(r.Error.Message))
			}
			return int(r.StatusCode), timedOut, nil
		case err := <-waited.Error:
			return 0, timedOut, failed("wait for a container", err)
		case <-over:
			timedOut, over = true, nil
		case <-done:
			done = nil
		}
		_, err := s.engine.ContainerKill(clean, id, client.ContainerKillOptions{Signal: "KILL"})
		if err != nil && !cerrdefs.IsNotFound(err) && !cerrdefs.IsConflict(err) { // it may have ended just now
			return 0, timedOut, failed("kill a container", err)
		}
	}
}

// remove removes a container. One that stays is found by Reap.
func (s *Sandbox) remove(ctx context.Context, id string) {
	_, _ = s.engine.ContainerRemove(ctx, id, client.ContainerRemoveOptions{Force: true, RemoveVolumes: true})
}

// Reap removes the containers of this home that other processes started, except
// those for which alive reports true, and returns their number.
func (s *Sandbox) Reap(ctx context.Context, alive func(owner string) bool) (removed int, err error) {
	list, err := s.engine.ContainerList(ctx, client.ContainerListOptions{
		All: true, Filters: make(client.Filters).Add("label", labelHome+"="+s.cfg.Home),
	})
	if err != nil {
		return 0, failed("list containers", err)
	}
	for _, c := range list.Items {
		if owner := c.Labels[labelOwner]; owner == s.cfg.Owner || alive(owner) {
			continue
		}
		_, err := s.engine.ContainerRemove(ctx, c.ID, client.ContainerRemoveOptions{Force: true, RemoveVolumes: true})
		if err != nil && !cerrdefs.IsNotFound(err) && !cerrdefs.IsConflict(err) {
			return removed, failed("remove a container", err)
		}
		removed++
	}
	return removed, nil
}

// container describes the container of a command.
func (s *Sandbox) container(spec sandbox.Spec, image string) (client.ContainerCreateOptions, error) {
	var none client.ContainerCreateOptions
	workspace, err := filepath.EvalSymlinks(spec.Workspace)
	if err != nil {
		return none, chela.E(chela.Unavailable, "the workspace cannot be opened").Because(err)
	}
	dir, err := sandbox.Workdir(workspace, spec.Workdir)
	if err != nil {
		return none, err
	}
	env, err := sandbox.Environ(sandbox.DefaultPath, spec.Env)
	if err != nil {
		return none, err
	}
	user, err := userOf(workspace)
	if err != nil {
		return none, err
	}
	limits := spec.Limits.Or(s.cfg.Limits).Or(sandbox.Limits{TotalMemory: s.cfg.Memory}).WithDefaults()
	pids := int64(limits.Processes)
	return client.ContainerCreateOptions{
		Config: &container.Config{
			Image: image, User: user, WorkingDir: path.Join(sandbox.Root, dir),
			Env:    append(env, "HOME="+sandbox.Root, "TMPDIR=/tmp", "SHELL=/bin/sh"),
			Cmd:    []string{"/bin/sh", "-c", shellLine(spec.Command)},
			Labels: map[string]string{labelHome: s.cfg.Home, labelOwner: s.cfg.Owner},
		},
		HostConfig: &container.HostConfig{
			NetworkMode: "none", ReadonlyRootfs: s.cfg.Policy != FullAccess,
			CapDrop: []string{"ALL"}, SecurityOpt: []string{"no-new-privileges"},
			Tmpfs:  map[string]string{"/tmp": "rw,nosuid,nodev,exec,mode=1777,size=" + strconv.FormatInt(limits.TmpSize, 10)},
			Mounts: s.mounts(workspace),
			Resources: container.Resources{
				Memory: limits.TotalMemory, MemorySwap: limits.TotalMemory, PidsLimit: &pids, CPUShares: s.cfg.Shares,
				Ulimits: []*container.Ulimit{
					{Name: "nofile", Soft: int64(limits.OpenFiles), Hard: int64(limits.OpenFiles)},
					{Name: "fsize", Soft: limits.FileSize, Hard: limits.FileSize},
					{Name: "cpu", Soft: int64(limits.CPU.Seconds()), Hard: int64(limits.CPU.Seconds())},
					{Name: "core", Soft: 0, Hard: 0},
				},
			},
		},
	}, nil
}

// shellLine runs a line in bash if the image has one. The shell that decides stays
// as the first process of the container, since signals do not kill that one.
func shellLine(command string) string {
	return "s=sh; command -v bash >/dev/null && s=bash; $s -c " + quote(command) + "; exit $?"
}

// quote quotes text for a shell.
func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

func (s *Sandbox) mounts(workspace string) []mount.Mount {
	mounts := []mount.Mount{{Type: mount.TypeBind, Source: workspace, Target: sandbox.Root, ReadOnly: s.cfg.Policy == ReadOnly}}
	if s.cfg.Image != "" {
		return mounts
	}
	for _, dir := range hostPaths {
		if at, err := filepath.EvalSymlinks(dir); err == nil {
			mounts = append(mounts, mount.Mount{Type: mount.TypeBind, Source: at, Target: dir, ReadOnly: true})
		}
	}
	return mounts
}

// hostPaths are the paths of the host with programs and what they need.
var hostPaths = []string{
	"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32",
	"/etc/alternatives", "/etc/ssl", "/etc/ca-certificates", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/localtime",
}

// userOf returns the user of a container, as "uid:gid": the owner of the
// workspace, so that files in it keep their owner. The super-user in a container
// has no capabilities, and sees nothing of the host that is not mounted.
func userOf(workspace string) (string, error) {
	at, err := os.Stat(workspace)
	if err != nil {
		return "", chela.E(chela.Unavailable, "the workspace cannot be opened").Because(err)
	}
	if uid, gid, ok := ownerOf(at); ok {
		return fmt.Sprintf("%d:%d", uid, gid), nil
	}
	return "1000:1000", nil
}

// failed classifies an error of the engine.
func failed(doing string, err error) error {
	kind := chela.Unavailable
	if cerrdefs.IsInvalidArgument(err) || cerrdefs.IsNotFound(err) {
		kind = chela.Unsupported
	}
	return chela.E(kind, "the container engine did not "+doing).WithHint("see chela doctor").Because(fmt.Errorf("%s: %w", doing, err))
}

// drain reads an answer of the engine to its end.
func drain(r io.ReadCloser) error {
	_, err := io.Copy(io.Discard, r)
	return errors.Join(err, r.Close())
}
