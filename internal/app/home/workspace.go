package home

import (
	"os"
	"strings"

	"chela"
	"chela/internal/config/place"
	"chela/internal/tool/workspace"
)

// Workspace returns the folder of somebody's files: that of the agent or, in the
// session of a job, the job's own, which is made if it is not there. It fails with
// Invalid where the session's key names no job that could have one.
func Workspace(h place.Home, o workspace.Owner) (string, error) {
	key, err := chela.ParseSessionKey(o.Session)
	if err != nil || key.Kind != chela.KeyJob { // tools that are called by hand have no session
		return h.Workspace(o.Agent), nil
	}
	if !isOneName(key.ID) {
		return "", chela.E(chela.Invalid, "a job of that name has no workspace").WithHint("use letters, digits, \"_\" and \"-\"")
	}
	dir := h.JobWorkspace(key.Agent, key.ID)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", Trouble(dir, err)
	}
	return dir, nil
}

// isOneName reports whether s is a name of a file on every system.
func isOneName(s string) bool {
	return s != "" && len(s) <= 64 && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == ""
}
