//go:build unix

package datadir_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/platform/datadir"
)

func TestPresence(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	appear := func(node chela.NodeID) *datadir.Presence {
		p, err := datadir.Appear(dir, node)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	a, b := appear("node_a"), appear("node_b")
	// What a process leaves that did not end by itself: a file without a lock.
	for _, dead := range []string{"node_dead", "node_holds"} {
		if err := os.WriteFile(filepath.Join(dir, dead), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for node, want := range map[chela.NodeID]bool{
		"node_a": false, "node_b": false, "node_elsewhere": false, "node_dead": true, "node_holds": true,
	} {
		if got := a.Dead(node); got != want {
			t.Errorf("%s is dead: %t, want %t", node, got, want)
		}
	}
	if !a.Dead("node_dead") {
		t.Error("looking at a dead node brought it back to life")
	}
	if _, err := datadir.Appear(dir, "node_b"); err == nil {
		t.Error("two processes are one node")
	}
	if err := a.Sweep(func(n chela.NodeID) bool { return n == "node_holds" }); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"node_a", "node_b", "node_holds"}, names(t, dir)); diff != "" {
		t.Errorf("files after a sweep (-want +got):\n%s", diff)
	}
	if err := b.Leave(); err != nil {
		t.Fatal(err)
	}
	if a.Dead("node_b") {
		t.Error("a node that left is called dead: it holds no lane, and its id may live elsewhere")
	}
	if err := a.Leave(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"node_holds"}, names(t, dir)); diff != "" {
		t.Errorf("files in the end (-want +got):\n%s", diff)
	}
	if err := a.Sweep(func(chela.NodeID) bool { return false }); err != nil {
		t.Fatal(err)
	}
}

func TestPresenceWithoutFolder(t *testing.T) {
	t.Parallel()
	if _, err := datadir.Appear(filepath.Join(t.TempDir(), "none"), "node_a"); err == nil {
		t.Error("appeared in a folder that does not exist")
	}
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, f := range files {
		all = append(all, f.Name())
	}
	return all
}

func TestAbandonedPresenceIsDead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	mine, err := datadir.Appear(dir, "node_mine")
	if err != nil {
		t.Fatal(err)
	}
	other, err := datadir.Appear(dir, "node_other")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := other.Leave(); err != nil {
			t.Error(err)
		}
	})
	if other.Dead("node_mine") {
		t.Fatal("it is dead while it lives")
	}
	if err := mine.Abandon(); err != nil {
		t.Fatal(err)
	}
	if !other.Dead("node_mine") {
		t.Error("nobody sees that it is dead")
	}
}
