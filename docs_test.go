package chela_test

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// page reads a document of the project.
func page(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// rooms returns the rooms of the import table with the layers that they import.
func rooms() map[string][]string {
	found := map[string][]string{}
	for _, l := range layers {
		if l.name != testSupport && strings.HasPrefix(l.packages[0], "internal/") {
			found[l.name] = slices.Sorted(slices.Values(l.imports))
		}
	}
	return found
}

var row = regexp.MustCompile("(?m)^\\| `([a-z]+)` \\|(.*)\\|$")

// TestMapsOfTheRooms: README and ARCHITECTURE name each room, and ARCHITECTURE what
// it may import.
func TestMapsOfTheRooms(t *testing.T) {
	t.Parallel()
	want := rooms()
	var named []string
	for _, m := range row.FindAllStringSubmatch(page(t, "README.md"), -1) {
		named = append(named, m[1])
	}
	slices.Sort(named)
	if diff := cmp.Diff(slices.Sorted(maps.Keys(want)), named); diff != "" {
		t.Errorf("rooms of README (-want +got):\n%s", diff)
	}
	got := map[string][]string{}
	_, table, _ := strings.Cut(page(t, "ARCHITECTURE.md"), "## Imports")
	table, _, _ = strings.Cut(table, "\n## ")
	for _, m := range row.FindAllStringSubmatch(table, -1) {
		cells := strings.Split(m[2], "|")
		imports := strings.Split(strings.TrimSpace(cells[len(cells)-1]), ", ")
		slices.Sort(imports)
		got[m[1]] = imports
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("imports in ARCHITECTURE (-want +got):\n%s", diff)
	}
}

// TestDependenciesPage: docs/dependencies.md explains each module that go.mod requires
// directly, and no other.
func TestDependenciesPage(t *testing.T) {
	t.Parallel()
	used, _, _ := strings.Cut(page(t, "docs/dependencies.md"), "## Looked at")
	var explained, required []string
	for _, m := range regexp.MustCompile("(?m)^\\| `([^`]+)`").FindAllStringSubmatch(used, -1) {
		explained = append(explained, m[1])
	}
	for _, m := range regexp.MustCompile(`(?m)^\t(\S+) v\S+$`).FindAllStringSubmatch(page(t, "go.mod"), -1) { // without "// indirect"
		required = append(required, m[1])
	}
	within := func(module, page string) bool { return module == page || strings.HasPrefix(module, page+"/") }
	for _, module := range required {
		if !slices.ContainsFunc(explained, func(p string) bool { return within(module, p) }) {
			t.Errorf("%s is not explained", module)
		}
	}
	for _, p := range explained {
		if !slices.ContainsFunc(required, func(module string) bool { return within(module, p) }) {
			t.Errorf("%s is explained and not required", p)
		}
	}
}
