package rewind

import (
	"fmt"
	"strings"

	"chela"
	"chela/internal/tool/workspace"
)

// Report describes a finished rewind for people, in lines.
func Report(v chela.Rewind) string {
	var b strings.Builder
	done := map[chela.RewindKind]string{
		chela.RewindUndo: "undone", chela.RewindRedo: "redone", chela.RewindRestore: "restored",
	}
	at := "at " + string(v.To)
	if v.To == "" {
		at = "at its beginning"
	}
	fmt.Fprintf(&b, "%s: thread %s is %s now\n", done[v.Kind], v.Thread, at)
	for _, p := range v.Changes {
		if p.Before == p.After { // the file was gone already; only its folder was removed
			continue
		}
		what := "put back"
		if p.After == "" {
			what = "removed"
		}
		fmt.Fprintf(&b, "%s %s\n", what, shown(p.Kind, p.Path))
	}
	for _, n := range v.NotUndone {
		fmt.Fprintf(&b, "not undone: %s\n", strings.TrimSpace(n.Tool+" "+n.Text))
	}
	return b.String()
}

// shown returns the path of a file or document as shown to people.
func shown(kind chela.PreimageKind, path string) string {
	if kind == chela.PreimageFile {
		return workspace.Show(path)
	}
	return path
}
