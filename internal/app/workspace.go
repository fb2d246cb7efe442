package app

import (
	"os"
	"strings"

	"chela"
	"chela/internal/config"
	"chela/internal/platform/datadir"
	"chela/internal/tool/workspace"
)

// WorkspaceDir returns the folder of an owner's files: the agent's or, in the
// session of a job, the job's own, which is created if missing. Guests and
// groups have only the workspaces of their jobs: the agent's is Denied to them.
// It fails with Invalid if the session's key names no job that could have a
// workspace.
func WorkspaceDir(h config.Home, o workspace.Owner) (string, error) {
	key, err := chela.ParseSessionKey(o.Session)
	if err != nil || key.Kind != chela.KeyJob { // manual tool calls have no session
		if o.Principal != chela.PrincipalOwner {
			return "", chela.E(chela.Denied, "no files are available here: the workspace belongs to the owner").WithHint("go on without files")
		}
		return h.Workspace(o.Agent), nil
	}
	if !isOneName(key.ID) {
		return "", chela.E(chela.Invalid, "a job of that name has no workspace").WithHint("use letters, digits, \"_\" and \"-\"")
	}
	dir := h.JobWorkspace(key.Agent, key.ID)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", datadir.Trouble(dir, err)
	}
	return dir, nil
}

// isOneName reports whether s is a single file name on every system.
func isOneName(s string) bool {
	return s != "" && len(s) <= 64 && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == ""
}
