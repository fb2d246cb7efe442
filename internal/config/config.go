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
	"chela/internal/config/background"
	"chela/internal/config/field"
	"chela/internal/config/hooks"
	"chela/internal/config/place"
	"chela/internal/config/provider"
	"chela/internal/config/sections"
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
	Routing    sections.Routing
	Record     string // folder into which requests to models are recorded; empty: they are not
	Replay     string // folder of a recording that answers in place of all models; empty: they do
	Listen     string // host:port that chela serve listens on; port 0 means any free one
	NoColor    bool   // NO_COLOR is set or the terminal is a dumb one
	Gateway    Gateway
	Queue      Queue
	Limits     Limits
	Unknown    UnknownModel
	Compaction Compaction
	Lanes      sections.Lanes // also what jobs, subagents and routines call their number at once
	Jobs       background.Jobs
	Subagents  background.Subagents
	Routines   background.Routines
	Heartbeat  background.Heartbeat
	Repair     background.Repair
	Sandbox    sections.Sandbox
	Database   sections.Database
	Session    sections.Session
	Approvals  sections.Approvals
	Policy     []Rule
	Hooks      []hooks.Hook
	Tools      sections.Tools
	Log        sections.Log

	variable  func(name string) string // of the environment; no map, so that nobody prints it
	zone      *time.Location
	agents    map[string]*Agent
	models    map[string]*catalogue.Row
	providers map[string]*Provider
	values    []Value
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

// Types of the sections, for those who are handed one.
type (
	Home         = place.Home            // the folder that holds everything of one owner
	Provider     = provider.Settings     // one [providers.NAME] section
	Agent        = sections.Agent        // one [agents.NAME] section
	Rule         = sections.Rule         // one [[policy]] section
	Gateway      = sections.Gateway      // [gateway]
	Queue        = sections.Queue        // [queue]
	Limits       = sections.Limits       // [limits]
	UnknownModel = sections.UnknownModel // [unknown_model]
	Compaction   = sections.Compaction   // [compaction]
	Chain        = sections.Chain        // [chain]
)
