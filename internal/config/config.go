// Package config makes one checked, printable, unchanging value out of the
// file config.toml, the environment and flags. A flag beats the environment,
// the environment beats the file, the file beats the default, and every value
// remembers which of them it came from.
//
// Nothing is ignored in silence: a key or CHELA_ variable that is not known,
// that this version does not support, or that holds the wrong thing is an
// error. No other package of the project reads the environment.
package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
	_ "time/tzdata" // zones must work where the system has none

	"chela"
	"chela/internal/catalogue"
	"chela/internal/config/field"
	"chela/internal/config/hooks"
	"chela/internal/config/place"
	"chela/internal/config/tomlfile"
)

// An Input is everything a Config is made of.
type Input struct {
	Home     string            // the flag --home; empty for none
	Environ  []string          // as from [Environ]
	Flags    map[string]string // by key, such as "model"
	Named    string            // provider/model that the command was given, for one request; empty for none
	Local    string            // provider/model on this machine, used if nobody chose one and there is no key; empty for none
	ReadFile func(name string) ([]byte, error)
}

// Environ returns the environment of the process as NAME=value strings.
func Environ() []string { return os.Environ() }

// A Config holds the settings of one home. It is not changed once it is
// loaded; its maps and slices are only to be read.
type Config struct {
	Home       Home
	Name       string   // the name the assistant goes by
	Timezone   string   // of the owner, such as "Europe/Berlin"; "local" is that of the machine
	Model      string   // provider/model, where neither agent, session nor message names one
	CheapModel string   // for what needs no better one; empty: the model that is used anyway
	Fallbacks  []string // models that stand in where another one fails, in order
	Named      string   // provider/model that the command was given, for one request; empty for none
	Chain      Chain
	Routing    Routing
	Record     string // folder into which requests to models are recorded; empty: they are not
	Replay     string // folder of a recording that answers in place of all models; empty: they do
	Listen     string // host:port that chela serve listens on; port 0 means any free one
	NoColor    bool   // NO_COLOR is set or the terminal is a dumb one
	Gateway    Gateway
	Queue      Queue
	Limits     Limits
	Unknown    UnknownModel
	Compaction Compaction
	Lanes      Lanes
	Sandbox    Sandbox
	Database   Database
	Session    Session
	Approvals  Approvals
	Policy     []Rule
	Hooks      []hooks.Hook
	Tools      Tools
	Log        Log

	zone      *time.Location
	agents    map[string]*Agent
	models    map[string]*catalogue.Row
	providers map[string]*Provider
	values    []Value
}

// Gateway says who may reach the HTTP API and how often.
type Gateway struct {
	Hosts             []string // names in the Host header that are taken besides loopback and the address listened on
	Origins           []string // origins of pages that may use the API besides its own, as browsers send them
	MessagesPerMinute int      // of one token; 0 means no limit
	LoginsPerMinute   int      // of one address
	Connections       int      // open at once
}

// Queue says how messages wait while a turn runs, and what is different for
// those of a channel.
type Queue struct {
	chela.QueueSettings
	Channels map[string]*chela.QueueSettings // by the name of the channel
}

// Limits bound a turn, and what is spent on models; there 0 means no limit.
type Limits struct {
	Steps       int           // model answers in one turn
	TurnTimeout time.Duration // wall clock, waiting for people not counted
	Repeats     int           // failures of the same call until the model is told that it goes in circles; 0 for any number
	IdleSteps   int           // steps in a row without anything new until it is told so; 0 for any number
	Nudges      int           // how often it is told to make a call that it only wrote out

	USDPerDay      chela.MicroUSD // of the home, where its owner lives
	USDPerSession  chela.MicroUSD
	USDPerTurn     chela.MicroUSD
	USDPerJob      chela.MicroUSD
	USDPerRoutine  chela.MicroUSD // in a day
	ActionsPerHour int            // calls of models in an hour of the clock
}

// UnknownModel is what is assumed of a model that nothing is known about.
type UnknownModel struct {
	Window        int            // tokens of prompt and answer
	MaxOutput     int            // tokens of an answer
	Input, Output chela.MicroUSD // for a million tokens
}

// Compaction says when and how far a prompt is made smaller, in tokens.
type Compaction struct {
	ReserveTokens    int // kept free for the answer
	ReserveFloor     int // the least that is kept free, whatever ReserveTokens says
	KeepRecentTokens int // of a conversation, kept by a compaction
	MemoryFlush      bool
	SoftThreshold    int // how far below the first threshold notes for the memory are asked for
}

// Lanes say how many lanes of a class run at once, and how many turns may wait
// for that before messages are refused.
type Lanes struct {
	Main, Job, Subagent, Cron int

	Waiting int
}

// ByClass returns the numbers by the class of lane.
func (l Lanes) ByClass() map[chela.Class]int {
	return map[chela.Class]int{
		chela.ClassMain:     l.Main,
		chela.ClassJob:      l.Job,
		chela.ClassSubagent: l.Subagent,
		chela.ClassCron:     l.Cron,
	}
}

// A SandboxMode says how tools of the worker domain are shut in.
type SandboxMode string

// The sandbox modes.
const (
	SandboxAuto    SandboxMode = "auto"    // the best that this machine can; refuse where it can none
	SandboxProcess SandboxMode = "process" // a process under kernel limits, or refuse
	SandboxOff     SandboxMode = "off"     // no limits
)

// Sandbox says where commands run.
type Sandbox struct{ Mode SandboxMode }

// Database says where the store is. An URL that is not set means the SQLite
// file of the home.
type Database struct {
	URL Secret // postgres://…; shown without its password
}

// Session says which direct chats share a session, and when a conversation
// begins anew or is put away.
type Session struct {
	DMScope       chela.DMScope
	IdentityLinks map[string]string // "channel:peer" or a peer, to the name of one person

	DailyReset  DayTime       // when a conversation of people begins anew, each day
	IdleMinutes int           // after which it begins anew; 0 means never
	IdleUnload  time.Duration // after which it leaves memory
	ArchiveDays int           // after which its session is archived; 0 means never
}

// A DayTime is a time of day in Config.Zone, or none.
type DayTime = field.DayTime

// Approvals say how long people have to answer.
type Approvals struct{ Expires time.Duration }

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

// Tools holds the settings of built-in tools.
type Tools struct {
	HTTPAllow []string // hosts and CIDR prefixes that http may reach though they are not public
}

// Log says what is logged and how.
type Log struct {
	Level  string // "debug", "info", "warn" or "error"
	Format string // "text" or "json"
}

// Models returns the [models."PROVIDER/NAME"] sections, by provider/model, with
// what they say of a model.
func (c *Config) Models() map[string]catalogue.Row {
	rows := make(map[string]catalogue.Row, len(c.models))
	for name, row := range c.models {
		rows[name] = *row
	}
	return rows
}

// An Agent is one [agents.NAME] section.
type Agent struct {
	Name       string
	Model      string // provider/model
	CheapModel string
	Fallbacks  []string
	Prompt     string   // said to the model in addition to the system prompt
	Allow      []string // tools it is offered; empty means all
	Deny       []string // tools it is not offered
}

// Load reads config.toml of the home, if there is one, and puts environment
// and flags above it. Errors are Invalid (something is wrong in one of them),
// Unsupported (this version cannot do what is asked), Denied (the file may not
// be read) or Unavailable; each names the place and the cure.
func Load(in Input) (*Config, error) {
	l := newLoader(in.Environ)
	l.local, l.c.Named = in.Local, in.Named
	home, source, err := place.Find(in.Home, l.env)
	if err != nil {
		return nil, err
	}
	l.c.Home = home
	l.homeSource = source
	read := in.ReadFile
	if read == nil {
		read = tomlfile.Read
	}
	text, err := read(home.ConfigFile())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, unreadable(home.ConfigFile(), err)
	}
	if err := l.file(home.ConfigFile(), text); err != nil {
		return nil, err
	}
	if err := l.environment(); err != nil {
		return nil, err
	}
	if err := l.flags(in.Flags); err != nil {
		return nil, err
	}
	if err := l.finish(); err != nil {
		return nil, err
	}
	return l.c, nil
}

// Find returns the home alone, for what must work without a valid config.toml.
func Find(in Input) (Home, error) {
	home, _, err := place.Find(in.Home, newLoader(in.Environ).env)
	return home, err
}

func unreadable(path string, err error) error {
	kind := chela.Unavailable
	switch {
	case errors.Is(err, fs.ErrPermission):
		kind = chela.Denied
	case errors.Is(err, syscall.ENOTDIR):
		return chela.E(chela.Invalid, fmt.Sprintf("the home %s is not a folder", filepath.Dir(path))).
			WithHint("choose another with --home, or move the file away").Because(err)
	}
	return chela.E(kind, fmt.Sprintf("cannot read %s", path)).
		WithHint("make it a file that you may read, or choose another home with --home").Because(err)
}

// A Value is one setting as it is printed. Secrets are shown as "set" or "not
// set".
type Value struct {
	Key    string `json:"key"`
	Value  string `json:"value"`
	Source string `json:"source"` // "flag --model", "env CHELA_MODEL", "file config.toml:12", "default"
}

// Values returns every setting, sorted by key.
func (c *Config) Values() []Value { return slices.Clone(c.values) }

// Value returns the setting of that key. An unknown key is an Invalid error
// that names the nearest one.
func (c *Config) Value(key string) (Value, error) {
	keys := make([]string, len(c.values))
	for i, v := range c.values {
		if v.Key == key {
			return v, nil
		}
		keys[i] = v.Key
	}
	e := chela.E(chela.Invalid, fmt.Sprintf("unknown key %q", field.Cut(key)))
	return Value{}, suggest(e, key, keys, "see chela config list")
}

// Zone returns where the owner lives: it decides what day it is.
func (c *Config) Zone() *time.Location { return c.zone }

// Agent returns the settings of an agent. The agent main is always there; one
// that is not configured is a NotFound error.
func (c *Config) Agent(name string) (Agent, error) {
	if a, ok := c.agents[name]; ok {
		return *a, nil
	}
	return Agent{}, chela.E(chela.NotFound, fmt.Sprintf("no agent %q", field.Cut(name))).
		WithHint("use one of " + strings.Join(c.AgentNames(), ", ") + ", or add [agents.NAME] to config.toml")
}

// AgentNames returns the names of all agents, sorted. "main" is one of them,
// whether config.toml has a section for it or not.
func (c *Config) AgentNames() []string { return sortedKeys(c.agents) }

// A Home is the folder that holds everything of one owner.
type Home = place.Home
