package grammar

import (
	"slices"
	"strings"

	"chela"
	"chela/internal/session"
)

// A Form is one command, a row of the table.
type Form struct {
	Name    string
	Aliases []string
	Args    string // what may follow, as help shows it; empty for nothing
	Help    string // what it does, without a subject
	More    string // what else there is to know of it; may be empty
	Open    bool   // for everybody; the others are the owner's

	// Values are what a directive can be set to, where they can be listed.
	Values []string
	kind   kind
}

// A kind says what becomes of a command.
type kind int

const (
	order     kind = iota // carried out at once
	directive             // sets something, for a message or the session
	local                 // means something only where there is a screen to leave
	spoken                // becomes a message to the agent
)

// Directive reports whether the command sets something and may stand with a
// text.
func (f Form) Directive() bool { return f.kind == directive }

// Local reports whether the command is for the surface that it is typed in.
func (f Form) Local() bool { return f.kind == local }

// Spoken reports whether the command becomes a message to the agent.
func (f Form) Spoken() bool { return f.kind == spoken }

// Usage returns how the command is written.
func (f Form) Usage() string { return strings.TrimSpace("/" + f.Name + " " + f.Args) }

// standard takes a setting back to what holds without it.
const standard = "default"

// Names of the commands that code asks for.
const (
	Think     = "think"
	Model     = "model"
	Verbose   = "verbose"
	Reasoning = "reasoning"
	Elevated  = "elevated"
	Queue     = "queue"
	Compact   = "compact"
	Summarize = "summarize"
	Suggest   = "suggest"
)

// table is every command, as help lists them.
var table = []Form{
	{Name: "help", Aliases: []string{"h", "?", "commands"}, Args: "[COMMAND]", Help: "lists the commands, or explains one", Open: true},
	{Name: "status", Help: "shows the model, the settings and what runs and waits in this session", Open: true},
	{Name: "whoami", Aliases: []string{"id"}, Help: "shows who you are here and which session this is", Open: true},
	{Name: "ping", Help: "answers, if anything does", Open: true},
	{Name: "version", Help: "shows the version of chela", Open: true},
	{Name: "tools", Help: "lists the tools of the agent", Open: true},

	{Name: "new", Aliases: []string{"reset", "clear"}, Args: "[TITLE]", Help: "begins a new thread; the old one is kept, and /resume goes back to it"},
	{Name: "thread", Aliases: []string{"threads"}, Args: "[list | new [TITLE] | ID]", Help: "shows the thread, lists all, begins one or goes to another"},
	{Name: "resume", Args: "[ID]", Help: "goes back to the thread that was used before this one, or to the one that is named"},
	{
		Name: "undo", Args: "[TURNS] [keep-files]", Help: "takes the last turn back, or several, and puts files and documents back",
		More: "A turn that runs is stopped first. If a file is not as it was left, nothing is changed; keep-files moves only the conversation.",
	},
	{Name: "redo", Args: "[keep-files]", Help: "takes the last undo or restore back"},
	{Name: "checkpoint", Args: "[NAME]", Help: "names the place where this thread is"},
	{Name: "restore", Args: "PLACE [keep-files]", Help: "goes to a checkpoint, an entry or the end of a turn, and puts files and documents there"},
	{Name: "branch", Aliases: []string{"fork"}, Args: "[PLACE]", Help: "goes on from here, or from a place, in a thread of its own"},
	{Name: "stop", Aliases: []string{"interrupt", "abort"}, Help: "stops the turn that runs; what it has said stays"},
	{
		Name: Compact, Args: "[INSTRUCTIONS]", Help: "puts a summary in the place of what was said so far", kind: spoken,
		More: "The instructions say what the summary must keep. What leaves the prompt is kept in the archive, and undo brings it back.",
	},
	{Name: Summarize, Args: "[ABOUT]", Help: "asks the agent for a summary of this thread", kind: spoken},
	{Name: Suggest, Args: "[ABOUT]", Help: "asks the agent what could be done next", kind: spoken},

	{
		Name: Think, Aliases: []string{"thinking", "t"}, Args: "[LEVEL]", Help: "shows or sets how much the model reasons", kind: directive,
		Values: session.Levels(Think),
	},
	{Name: Model, Aliases: []string{"models"}, Args: "[list | PROVIDER/MODEL]", Help: "shows or sets the model, or lists those there are", kind: directive},
	{
		Name: Verbose, Aliases: []string{"v"}, Args: "[LEVEL]", Help: "shows or sets how much of the tools is shown", kind: directive,
		Values: session.Levels(Verbose),
	},
	{
		Name: Reasoning, Args: "[LEVEL]", Help: "shows or sets whether the model's reasoning is shown", kind: directive,
		Values: session.Levels(Reasoning),
	},
	{
		Name: Elevated, Aliases: []string{"elev"}, Args: "[LEVEL]", kind: directive, Values: session.Levels(Elevated),
		Help: "shows or sets what becomes of calls that need a yes",
		More: "off refuses them, ask asks, on allows programs and the network until the next thread, full also what is risky. What sends or spends is always asked about.",
	},
	{
		Name: Queue, Args: "[MODE] [debounce=TIME] [cap=N] [drop=old|new|summarize]", kind: directive,
		Help:   "shows or sets how messages wait while a turn runs",
		Values: session.Levels(Queue),
	},

	{Name: "approve", Aliases: []string{"approvals"}, Args: "[ID [always [PATTERN]] | revoke GRANT]", Help: "says yes to what waits for it, lists what waits and what is allowed, or takes that back"},
	{Name: "deny", Args: "[ID] [REASON]", Help: "says no to what waits for an answer"},
	{
		Name: "job", Args: "TEXT", Help: "has something done in the background, and tells here what came of it",
		More: "The job knows nothing but the text. It goes on when you leave.",
	},
	{Name: "jobs", Aliases: []string{"list"}, Args: "[ID]", Help: "lists the jobs, or shows how far one is"},
	{Name: "cancel", Args: "ID", Help: "cancels a job with its parts and subagents; what it did stays"},
	{
		Name: "subagents", Aliases: []string{"subagent"}, Args: "[list | info ID | log ID | stop ID]",
		Help: "lists the subagents of this session, says more of one, or stops it",
		More: "The number in the list stands for the ID, too.",
	},
	{
		Name: "memory", Args: "[QUERY]", Help: "lists the documents of the agent, or shows the one that matches",
		More: "A document matches by its path or title; what it says is not searched.",
	},
	{
		Name: "routine", Aliases: []string{"routines"}, Args: "[list | next | create NAME KEY=VALUE... PROMPT | show, edit, enable, disable, fire, history or delete NAME]",
		Help: "shows what fires by itself, and changes it",
		More: `A value with spaces stands in quotes: /routine create tea cron="0 16 * * *" do=notify Tea is ready. The keys are the flags of chela routines create.`,
	},
	{Name: "heartbeat", Args: "[status | now | on | off]", Help: "shows when the agent looks around unasked, lets it do so now, or turns that on or off"},
	{Name: "context", Help: "shows what takes how much of the prompt"},
	{Name: "usage", Help: "shows the tokens of this session and of the home"},
	{Name: "debug", Help: "shows the ids and states behind this session"},
	{Name: "quit", Aliases: []string{"exit", "q"}, Help: "leaves a chat on the command line", Open: true, kind: local},
}

// Forms returns every command in the order of help.
func Forms() []Form { return slices.Clone(table) }

// Find returns the command of a name or alias, in any case.
func Find(name string) (Form, bool) {
	name = strings.ToLower(name)
	for _, f := range table {
		if f.Name == name || slices.Contains(f.Aliases, name) {
			return f, true
		}
	}
	return Form{}, false
}

func notOf(name, value string, values []string) *chela.Error {
	return chela.E(chela.Invalid, Quoted(value)+" is no level of "+name).WithHint("use " + OneOf(values))
}
