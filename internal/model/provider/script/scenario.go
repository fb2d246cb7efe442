package script

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"chela"
	"chela/internal/platform/lazyregexp"
)

// A Scenario is a validated script from [Parse] or [Load]. It is immutable.
type Scenario struct {
	Name    string `yaml:"name"`
	PastEnd string `yaml:"past_end"`
	Window  int    `yaml:"window"`
	Record  string `yaml:"record"`
	Turns   []turn `yaml:"turns"`
}

// Behavior past the last turn or step.
const (
	pastEndError  = "error"
	pastEndRepeat = "repeat"
	pastEndEcho   = "echo"
)

type turn struct {
	When  *pattern `yaml:"when"`
	Note  *pattern `yaml:"note"`
	Steps []step   `yaml:"steps"`
}

type step struct {
	Thinking     string           `yaml:"thinking"`
	Text         string           `yaml:"text"`
	Calls        []call           `yaml:"calls"`
	Stop         chela.StopReason `yaml:"stop"`
	Usage        *usage           `yaml:"usage"`
	DelayMS      int              `yaml:"delay_ms"`
	ChunkDelayMS int              `yaml:"chunk_delay_ms"`
	ChunkBytes   int              `yaml:"chunk_bytes"`
	Expect       expect           `yaml:"expect"`
	Fault        *fault           `yaml:"fault"`
}

type call struct {
	Tool    string         `yaml:"tool"`
	Ref     string         `yaml:"ref"`
	Args    map[string]any `yaml:"args"`
	ArgsRaw string         `yaml:"args_raw"`
}

type usage struct {
	Input      int64 `yaml:"input"`
	Output     int64 `yaml:"output"`
	CacheRead  int64 `yaml:"cache_read"`
	CacheWrite int64 `yaml:"cache_write"`
	Reasoning  int64 `yaml:"reasoning"`
}

type fault struct {
	Status       int    `yaml:"status"`
	Overflow     bool   `yaml:"overflow"`
	Cut          bool   `yaml:"cut"`
	Hang         bool   `yaml:"hang"`
	After        int    `yaml:"after"`
	Message      string `yaml:"message"`
	RetryAfterMS int    `yaml:"retry_after_ms"`
	Times        int    `yaml:"times"`
}

// Load reads the scenario in the named file. It returns NotFound if the file
// cannot be read, and Invalid if it is not a scenario.
func Load(path string) (*Scenario, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, chela.E(chela.NotFound, "cannot read the scenario").WithHint("give the path of an existing file, as in script/PATH").Because(err)
	}
	s, err := Parse(text)
	if err != nil {
		return nil, fmt.Errorf("load scenario %s: %w", path, err)
	}
	return s, nil
}

// Parse reads and validates a scenario in YAML or JSON. Unknown keys are
// errors. Errors are Invalid and name the line, or the turn and step.
func Parse(text []byte) (*Scenario, error) {
	var s Scenario
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	if err := d.Decode(&s); errors.Is(err, io.EOF) {
		return nil, invalid("the scenario is empty")
	} else if err != nil {
		return nil, parseError(err)
	}
	if err := d.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return nil, invalid("the scenario must be a single document")
	}
	if err := s.check(); err != nil {
		return nil, err
	}
	return &s, nil
}

func invalid(format string, args ...any) *chela.Error {
	return chela.E(chela.Invalid, fmt.Sprintf(format, args...))
}

var unknownKey = lazyregexp.New(`^line (\d+): field (.+) not found in type \S+$`)

// parseError rewrites errors of the YAML decoder, which mention Go types, for
// the author of the scenario.
func parseError(err error) error {
	var typed *yaml.TypeError
	if !errors.As(err, &typed) || len(typed.Errors) == 0 {
		return invalid("%s", strings.TrimPrefix(err.Error(), "yaml: "))
	}
	first := typed.Errors[0]
	if m := unknownKey().FindStringSubmatch(first); m != nil {
		return invalid("line %s: unknown key %q", m[1], m[2])
	}
	return invalid("%s", first)
}

func (s *Scenario) check() error {
	s.PastEnd = strings.ToLower(s.PastEnd)
	switch s.PastEnd {
	case "":
		s.PastEnd = pastEndError
	case pastEndError, pastEndRepeat, pastEndEcho:
	default:
		return invalid("past_end is %q, not error, repeat or echo", s.PastEnd)
	}
	if s.Window < 0 {
		return invalid("the window is negative")
	}
	if len(s.Turns) == 0 && s.PastEnd != pastEndEcho {
		return invalid("the scenario has no turns")
	}
	for i, t := range s.Turns {
		if len(t.Steps) == 0 {
			return invalid("turn %d has no steps", i+1)
		}
		if t.When != nil && t.Note != nil {
			return invalid("turn %d has both when and note", i+1)
		}
		for k := range t.Steps {
			if err := t.Steps[k].check(); err != nil {
				return invalid("turn %d step %d: %v", i+1, k+1, err)
			}
		}
	}
	return nil
}

var stops = []chela.StopReason{"", chela.StopEnd, chela.StopCalls, chela.StopLength, chela.StopRefusal}

func (st *step) check() error {
	if !slices.Contains(stops, st.Stop) {
		return invalid("stop is %q, not end, calls, length or refusal", st.Stop)
	}
	for _, n := range []int{st.DelayMS, st.ChunkDelayMS, st.ChunkBytes} {
		if n < 0 {
			return invalid("a delay or chunk size is negative")
		}
	}
	if err := checkQuotes(st.Text); err != nil {
		return err
	}
	for i, c := range st.Calls {
		if err := c.check(); err != nil {
			return invalid("call %d: %v", i+1, err)
		}
	}
	if st.Fault != nil {
		return st.Fault.check()
	}
	return nil
}

func (c call) check() error {
	if c.Tool == "" {
		return invalid("it names no tool")
	}
	if c.Args != nil && c.ArgsRaw != "" {
		return invalid("it has both args and args_raw")
	}
	if _, err := json.Marshal(c.Args); err != nil {
		return invalid("its args are not JSON: %v", err)
	}
	var bad error
	mapStrings(c.Args, func(s string) string {
		bad = errors.Join(bad, checkQuotes(s))
		return s
	})
	return bad
}

func (f *fault) check() error {
	kinds := 0
	for _, set := range []bool{f.Status != 0, f.Overflow, f.Cut, f.Hang} {
		if set {
			kinds++
		}
	}
	switch {
	case kinds != 1:
		return invalid("a fault is exactly one of status, overflow, cut and hang")
	case f.Status != 0 && (f.Status < 300 || f.Status > 599):
		return invalid("%d is not the HTTP status of a fault", f.Status)
	case f.After < 0 || f.Times < 0 || f.RetryAfterMS < 0:
		return invalid("a number of the fault is negative")
	case f.RetryAfterMS > 0 && f.Status == 0:
		return invalid("retry_after_ms goes with a status")
	}
	return nil
}
