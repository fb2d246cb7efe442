package shell_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/safety/egress"
	"chela/internal/tool"
	"chela/internal/tool/sandbox"
	"chela/internal/tool/shell"
)

// A surrounding is what the conditions of a command depend on.
type surrounding struct {
	dir     string
	args    string
	stub    stub
	network shell.Network
}

func (s surrounding) binding(t *testing.T) string {
	t.Helper()
	conditions, err := shell.New(&s.stub, at(s.dir), s.network, nil).Conditions(t.Context(), call(s.args))
	if err != nil {
		t.Fatal(err)
	}
	return tool.Binding("", conditions)
}

// Each change of the directory, the environment, the sandbox or the network of a
// command is told apart.
func TestConditions(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"a", "b"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	link := filepath.Join(dir, "link")
	const args = `{"command":"make","workdir":"link","hosts":["example.com"],"secrets":[{"name":"KEY","variable":"K","host":"example.com"}]}`
	base := surrounding{
		dir: dir, args: args, network: shell.Network{Policy: egress.Policy{Mode: egress.Ask}},
		stub: stub{setting: sandbox.Setting{Environ: []string{"PATH=/bin"}, Confinement: "process"}},
	}
	point := func(to string) {
		if err := errors.Join(os.RemoveAll(link), os.Symlink(to, link)); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name   string
		change func(s *surrounding)
		want   []string
	}{
		{"nothing", func(*surrounding) {}, nil},
		{"the link to the directory", func(*surrounding) { point("b") }, []string{"directory"}},
		{"the workspace", func(s *surrounding) { s.dir = t.TempDir() }, []string{"directory"}},
		{"a variable", func(s *surrounding) { s.stub.setting.Environ = []string{"PATH=/opt/bin"} }, []string{"environment"}},
		{"one more variable", func(s *surrounding) { s.stub.setting.Environ = []string{"PATH=/bin", "X=1"} }, []string{"environment"}},
		{"the sandbox", func(s *surrounding) { s.stub.setting.Confinement = "none" }, []string{"sandbox"}},
		{"the mode of the network", func(s *surrounding) { s.network.Policy.Mode = egress.Off }, []string{"network"}},
		{"a rule for the host", func(s *surrounding) { s.network.Policy.Rules = []egress.Rule{{Host: "example.com"}} }, []string{"network"}},
		{"no sandbox", func(s *surrounding) { s.network.Unconfined = true }, []string{"network"}},
	} {
		point("a")
		before, s := base.binding(t), base
		c.change(&s)
		if diff := cmp.Diff(c.want, tool.Changed(before, s.binding(t))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

func TestConditionsBreak(t *testing.T) {
	t.Parallel()
	lost := errors.New("lost")
	_, err := shell.New(&stub{err: lost}, at("/w"), shell.Network{}, nil).Conditions(t.Context(), call(`{"command":"x"}`))
	if !errors.Is(err, lost) {
		t.Errorf("error %v, want %v", err, lost)
	}
	if _, err := shell.New(&stub{}, at("/w"), shell.Network{}, nil).Conditions(t.Context(), chela.ToolCall{}); err == nil {
		t.Error("a call without arguments has conditions")
	}
}
