package docker

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/moby/moby/client"

	"chela"
	"chela/internal/api"
)

// Hosts returns the addresses at which engines usually listen on this machine.
// runtimeDir is the folder of the user's sockets (XDG_RUNTIME_DIR), and home the
// user's home folder; either may be empty.
func Hosts(runtimeDir, home string) []string {
	if runtime.GOOS == "windows" {
		return []string{client.DefaultDockerHost}
	}
	paths := []string{"/var/run/docker.sock"}
	if runtimeDir != "" {
		paths = append(paths, filepath.Join(runtimeDir, "docker.sock"), filepath.Join(runtimeDir, "podman", "podman.sock"))
	}
	paths = append(paths, "/run/podman/podman.sock")
	if home != "" { // Docker Desktop
		paths = append(paths, filepath.Join(home, ".docker", "run", "docker.sock"))
	}
	hosts := make([]string, len(paths))
	for i, p := range paths {
		hosts[i] = "unix://" + p
	}
	return hosts
}

// checkHost refuses engines of other machines: the folders of this one cannot be
// mounted there.
func checkHost(host string) error {
	at, err := url.Parse(host)
	if err != nil {
		return chela.E(chela.Invalid, "the address of the container engine is not valid").
			WithHint("write it like unix:///var/run/docker.sock in sandbox.host or DOCKER_HOST").Because(err)
	}
	local := at.Scheme == "unix" || at.Scheme == "npipe" ||
		at.Scheme == "tcp" && slices.Contains([]string{"localhost", "127.0.0.1", "::1"}, at.Hostname())
	if !local {
		return chela.E(chela.Invalid, "the container engine at "+at.Scheme+"://"+at.Host+" is not on this machine, so it cannot mount the workspace").
			WithHint("set sandbox.host or DOCKER_HOST to the socket of an engine of this machine, such as unix:///var/run/docker.sock")
	}
	return nil
}

// An engine is a container engine that answered.
type engine struct {
	*client.Client
	podman   bool
	rootless bool // user 0 of its containers is the user of this process
	version  string
	gaps     []api.IsolationGap
	image    imageOnce
}

// Check returns nil if an engine answers that can run commands, else an
// Unsupported error with a hint.
func (s *Sandbox) Check(ctx context.Context) error {
	_, err := s.connect(ctx)
	return err
}

// Close closes the connections to the engine.
func (s *Sandbox) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.engine == nil {
		return nil
	}
	defer func() { s.engine = nil }()
	return s.engine.Close()
}

// connect returns the engine, which has just answered.
func (s *Sandbox) connect(ctx context.Context) (*engine, error) {
	if s.cfg.Image == "" && runtime.GOOS != "linux" {
		return nil, chela.E(chela.Unsupported, "programs of "+runtime.GOOS+" do not run in containers").
			WithHint("chela config set sandbox.image IMAGE, with the name of a Linux image that the engine has")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.engine != nil && ping(ctx, s.engine.Client) == nil {
		return s.engine, nil
	}
	var all error
	for _, host := range s.cfg.Hosts {
		e, err := dial(ctx, host)
		if err == nil {
			if s.engine != nil {
				_ = s.engine.Close() // it does not answer
			}
			s.engine = e
			return e, nil
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		all = errors.Join(all, fmt.Errorf("%s: %w", host, err))
	}
	if errors.Is(all, fs.ErrPermission) {
		return nil, chela.E(chela.Unsupported, "this user may not use the container engine").Because(all).
			WithHint("add the user to the group of its socket, or use rootless Podman: systemctl --user start podman.socket")
	}
	return nil, chela.E(chela.Unsupported, "no container engine answers").Because(all).
		WithHint("start Docker or Podman (systemctl start docker, or systemctl start podman.socket), or set sandbox.host to its socket")
}

func ping(ctx context.Context, c *client.Client) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	_, err := c.Ping(ctx, client.PingOptions{})
	return err
}

// dial connects to the engine at host.
func dial(ctx context.Context, host string) (_ *engine, err error) {
	if path, ok := strings.CutPrefix(host, "unix://"); ok {
		if _, err := os.Stat(path); err != nil {
			return nil, err
		}
	}
	c, err := client.New(client.WithTLSClientConfigFromEnv(), client.WithHost(host))
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = c.Close() // the error of the connection counts
		}
	}()
	if err := ping(ctx, c); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	version, err := c.ServerVersion(ctx, client.ServerVersionOptions{})
	if err != nil {
		return nil, err
	}
	about, err := c.Info(ctx, client.InfoOptions{})
	if err != nil {
		return nil, err
	}
	e := &engine{Client: c, version: "Docker " + version.Version}
	for _, part := range version.Components {
		if strings.HasPrefix(part.Name, "Podman") {
			e.podman, e.version = true, "Podman "+part.Version
		}
	}
	e.rootless = slices.ContainsFunc(about.Info.SecurityOptions, func(o string) bool { return strings.HasPrefix(o, "name=rootless") })
	seccomp := slices.ContainsFunc(about.Info.SecurityOptions, func(o string) bool { return strings.HasPrefix(o, "name=seccomp") })
	for _, can := range []struct {
		is         bool
		text, cure string
	}{
		{seccomp, "the engine does not filter system calls (seccomp)", "use an engine built with seccomp, without seccomp=unconfined in its configuration"},
		{about.Info.MemoryLimit, "the engine cannot limit the memory of a command", "enable the memory controller of cgroups; a rootless engine needs cgroup v2 with delegation"},
		{about.Info.PidsLimit, "the engine cannot limit the processes of a command", "enable the pids controller of cgroups; a rootless engine needs cgroup v2 with delegation"},
	} {
		if !can.is {
			e.gaps = append(e.gaps, api.IsolationGap{Text: can.text, Cure: can.cure})
		}
	}
	return e, nil
}

// Describe returns how containers confine commands. It fails as Check does, and with
// Unsupported if the engine does not have the configured image.
func (s *Sandbox) Describe(ctx context.Context) (api.Isolation, error) {
	e, err := s.connect(ctx)
	if err != nil {
		return api.Isolation{}, err
	}
	if named := s.cfg.Image; named != "" {
		if _, err := e.ImageInspect(ctx, named); cerrdefs.IsNotFound(err) {
			return api.Isolation{}, chela.E(chela.Unsupported, "the container engine has no image "+named).Because(err).
				WithHint("docker pull " + named + ", or chela config unset sandbox.image to use one of chela itself")
		}
	}
	d := api.Isolation{
		Tier: "docker",
		Mechanisms: []string{
			"a container of " + e.version + " for each command, removed after it", "own root file system, read-only",
			"PID, mount, network and IPC namespaces", "no capabilities", "no new privileges", "seccomp filters of the engine and of chela",
			"memory, processes and processor share limited by a cgroup", "scrubbed environment",
		},
		Gaps: slices.Clone(e.gaps),
	}
	if !e.rootless {
		d.Gaps = append(d.Gaps, api.IsolationGap{
			Text: "the engine runs as root: a hole in it or in the kernel is one of the whole machine",
			Cure: "run the engine rootless, or set sandbox.mode to process",
		})
	}
	d.Gaps = append(d.Gaps, api.IsolationGap{
		Text: "the size of the workspace is sampled while a command runs, so it can be exceeded for a moment",
		Cure: "keep the home on a file system with a quota",
	})
	return d, nil
}
