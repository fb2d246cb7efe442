package config

// This part of the package defines the plain sections of config.toml: for each
// its values, its defaults and its keys.

import (
	"time"

	"chela"
	"chela/internal/config/field"
)

// A SandboxMode says how tools of the worker domain are confined.
type SandboxMode string

// The sandbox modes.
const (
	SandboxAuto    SandboxMode = "auto"    // the strongest tier of this machine; refuse if there is none
	SandboxProcess SandboxMode = "process" // a process under kernel limits, or refuse
	SandboxOff     SandboxMode = "off"     // unconfined
)

// Sandbox says where commands run, and limits the resources of all processes of
// a command.
type Sandbox struct {
	Mode SandboxMode

	Memory         int // MiB, with files in /tmp and shared memory
	Processes      int // processes and threads at the same time
	WorkspaceSize  int // MiB on disk
	WorkspaceFiles int
}

// NewSandbox returns the defaults.
func NewSandbox() Sandbox {
	return Sandbox{Mode: SandboxAuto, Memory: 4096, Processes: 512, WorkspaceSize: 20_480, WorkspaceFiles: 1_000_000}
}

// SandboxKeys are the keys of [sandbox].
var SandboxKeys = []field.Key[Sandbox]{
	field.Named("mode", func(s *Sandbox) field.Field {
		return field.Choice(&s.Mode, []SandboxMode{SandboxAuto, SandboxProcess, SandboxOff}, "docker")
	}),
	field.Named("memory_mib", func(s *Sandbox) field.Field { return field.Number(&s.Memory, 64, 1<<24) }),
	field.Named("processes", func(s *Sandbox) field.Field { return field.Number(&s.Processes, 32, 30_000) }),
	field.Named("workspace_mib", func(s *Sandbox) field.Field { return field.Number(&s.WorkspaceSize, 1, 1<<30) }),
	field.Named("workspace_files", func(s *Sandbox) field.Field { return field.Number(&s.WorkspaceFiles, 1, 1_000_000_000) }),
}

// Resources bounds the memory of the process.
type Resources struct {
	// Memory is a soft limit of all memory that Go manages, in MiB: near it, garbage is
	// collected more often. 0 means none, or that of GOMEMLIMIT.
	Memory int

	Conversations int // MiB of conversations kept between their turns
	Bodies        int // MiB of request bodies at the same time
}

// NewResources returns the defaults.
func NewResources() Resources { return Resources{Conversations: 16, Bodies: 64} }

// ResourceKeys are the keys of [resources].
var ResourceKeys = []field.Key[Resources]{
	field.Named("memory_mib", func(r *Resources) field.Field { return field.Number(&r.Memory, 0, 1<<24) }),
	field.Named("conversations_mib", func(r *Resources) field.Field { return field.Number(&r.Conversations, 1, 1<<20) }),
	field.Named("bodies_mib", func(r *Resources) field.Field { return field.Number(&r.Bodies, 2, 1<<20) }),
}

// Approvals sets how long people have to answer.
type Approvals struct{ Expires time.Duration }

// NewApprovals returns the defaults.
func NewApprovals() Approvals { return Approvals{Expires: 24 * time.Hour} }

// ApprovalKeys are the keys of [approvals].
var ApprovalKeys = []field.Key[Approvals]{
	field.Named("expires", func(a *Approvals) field.Field { return field.Span(&a.Expires, time.Minute, 365*24*time.Hour) }),
}

// Tools holds the settings of built-in tools.
type Tools struct {
	HTTPAllow []string // hosts and CIDR prefixes that http may reach although they are not public
}

// ToolKeys are the keys of [tools].
var ToolKeys = []field.Key[Tools]{
	field.Named("http_allow", func(t *Tools) field.Field {
		return field.List(&t.HTTPAllow, `a list of hosts, addresses or prefixes such as "10.1.0.0/16"`, isHostOrPrefix)
	}),
}

// Log configures the level and the format of the log.
type Log struct {
	Level  string // "debug", "info", "warn" or "error"
	Format string // "text" or "json"
}

// NewLog returns the defaults.
func NewLog() Log { return Log{Level: "info", Format: "text"} }

// LogKeys are the keys of [log].
var LogKeys = []field.Key[Log]{
	field.Named("level", func(l *Log) field.Field {
		return field.Choice(&l.Level, []string{"debug", "info", "warn", "error"})
	}),
	field.Named("format", func(l *Log) field.Field { return field.Choice(&l.Format, []string{"text", "json"}) }),
}

// A Rule is one [[policy]] section. An empty field matches everything.
type Rule struct {
	Tool    string
	Effect  chela.Effect
	Pattern string
	Agent   string
	Channel string
	Group   string
	Sender  string
	Verdict chela.Verdict
}

var (
	verdicts = []chela.Verdict{chela.Deny, chela.Ask, chela.Allow}
	effects  = []chela.Effect{
		chela.EffectRead, chela.EffectWrite, chela.EffectNetwork, chela.EffectExecute, chela.EffectSend, chela.EffectSpend,
	}
)

// RuleKeys are the keys of [[policy]].
var RuleKeys = []field.Key[Rule]{
	field.Named("tool", func(r *Rule) field.Field { return field.Text(&r.Tool, "a tool name", field.OneLine) }),
	field.Named("effect", func(r *Rule) field.Field { return field.Choice(&r.Effect, effects) }),
	field.Named("pattern", func(r *Rule) field.Field {
		return field.Text(&r.Pattern, "a pattern on one line", field.OneLine)
	}),
	field.Named("agent", func(r *Rule) field.Field { return field.Text(&r.Agent, "an agent's name", chela.ValidName) }),
	field.Named("channel", func(r *Rule) field.Field {
		return field.Text(&r.Channel, "a channel's name", chela.ValidName)
	}),
	field.Named("group", func(r *Rule) field.Field { return field.Text(&r.Group, "a group's id", field.OneLine) }),
	field.Named("sender", func(r *Rule) field.Field { return field.Text(&r.Sender, "a sender's id", field.OneLine) }),
	field.Named("verdict", func(r *Rule) field.Field { return field.Choice(&r.Verdict, verdicts) }),
}
