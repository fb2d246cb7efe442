package sandbox

import (
	"maps"
	"slices"
	"strings"

	"chela"
)

// DefaultPath is the PATH of a command.
const DefaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// Environ returns the environment of a command as KEY=value lines, sorted: a
// fixed set, extended and overridden first by the variables of its tools and then by
// extra. HOME, TMPDIR and SHELL are added where the command runs. Nothing of chela's
// own environment is inherited. A variable of extra that makes programs load or run
// other code is Denied.
func Environ(tools Tools, extra map[string]string) ([]string, error) {
	env := map[string]string{
		"PATH":    tools.PATH(),
		"LANG":    "C.UTF-8",
		"TERM":    "dumb",
		"USER":    "chela",
		"LOGNAME": "chela",

		"GIT_CONFIG_NOSYSTEM": "1", // /etc/gitconfig is missing or unreadable
	}
	maps.Copy(env, tools.Env)
	for name, value := range extra {
		if reason := refuse(name, value); reason != "" {
			return nil, chela.E(chela.Denied, "environment variable "+name+" "+reason)
		}
		env[name] = value
	}
	lines := make([]string, 0, len(env))
	for name, value := range env {
		lines = append(lines, name+"="+value)
	}
	slices.Sort(lines)
	return lines, nil
}

// Overridden returns an environment with further lines, which replace those of the same
// variables.
func Overridden(env, lines []string) []string {
	set := make(map[string]bool, len(lines))
	for _, line := range lines {
		name, _, _ := strings.Cut(line, "=")
		set[name] = true
	}
	env = slices.DeleteFunc(slices.Clone(env), func(line string) bool {
		name, _, _ := strings.Cut(line, "=")
		return set[name]
	})
	return append(env, lines...)
}

// loaders are variables that make a program load or run other code before it
// starts.
var loaders = []string{
	"BASH_ENV", "BASH_FUNC_*", "BASHOPTS", "ENV", "GCONV_PATH", "GIT_SSH*",
	"IFS", "JAVA_TOOL_OPTIONS", "LD_*", "NODE_OPTIONS", "PERL5OPT", "PROMPT_COMMAND",
	"PS4", "PYTHONSTARTUP", "RUBYOPT", "SHELLOPTS", "_JAVA_OPTIONS",
}

func refuse(name, value string) string {
	if name == "" || strings.ContainsAny(name, "=\x00") || strings.Contains(value, "\x00") {
		return "is not well-formed"
	}
	if name == "HOME" || name == "TMPDIR" || name == "SHELL" {
		return "is set by the sandbox"
	}
	for _, l := range loaders {
		stem, wild := strings.CutSuffix(l, "*")
		if name == l || wild && strings.HasPrefix(name, stem) {
			return "changes what programs load"
		}
	}
	return ""
}
