package session

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"chela"
	"chela/internal/api"
	"chela/internal/platform/nearest"
)

// The values of settings. The empty value is allowed everywhere and means the
// default of the agent or the home.
var (
	thinkingLevels = []chela.ThinkingLevel{
		chela.ThinkingOff, chela.ThinkingMinimal, chela.ThinkingLow, chela.ThinkingMedium, chela.ThinkingHigh, chela.ThinkingXHigh,
	}
	verboseLevels   = []string{"off", "on", "full"}
	reasoningLevels = []string{"off", "on", "stream"}
	usageLevels     = []string{"off", "tokens", "full"}
	elevatedLevels  = []string{"off", "ask", "on", "full"}
	queueModes      = []chela.QueueMode{
		chela.QueueCollect, chela.QueueFollowup, chela.QueueSteer, chela.QueueSteerBacklog, chela.QueuePlain, chela.QueueInterrupt,
	}
	queueDrops = []chela.QueueDrop{chela.DropOld, chela.DropNew, chela.DropSummarize}
)

// Levels returns the values of a setting by its name in commands, and nil for a
// setting without a fixed list.
func Levels(name string) []string {
	switch name {
	case "think":
		return words(thinkingLevels)
	case "verbose":
		return words(verboseLevels)
	case "reasoning":
		return words(reasoningLevels)
	case "elevated":
		return words(elevatedLevels)
	case "queue":
		return words(queueModes)
	case "drop":
		return words(queueDrops)
	default:
		return nil
	}
}

func words[S ~string](of []S) []string {
	list := make([]string, len(of))
	for i, w := range of {
		list[i] = string(w)
	}
	return list
}

// maxLabel is the maximum length of a label, in bytes.
const maxLabel = 200

// A setting is a setting that people may change.
type setting struct {
	name string
	want string                                        // description of valid values
	put  func(p *api.SettingsPatch, value string) bool // false if value is invalid
}

// settable are the settings by their names in commands and over HTTP.
var settable = []setting{
	{"label", "up to 200 letters", text(func(p *api.SettingsPatch) **string { return &p.Label })},
	{"model", "provider/model, or nothing", text(func(p *api.SettingsPatch) **string { return &p.Model })},
	{"thinking", oneOf(thinkingLevels), text(func(p *api.SettingsPatch) **chela.ThinkingLevel { return &p.Thinking })},
	{"verbose", oneOf(verboseLevels), text(func(p *api.SettingsPatch) **string { return &p.Verbose })},
	{"reasoning", oneOf(reasoningLevels), text(func(p *api.SettingsPatch) **string { return &p.Reasoning })},
	{"response_usage", oneOf(usageLevels), text(func(p *api.SettingsPatch) **string { return &p.ResponseUsage })},
	{"elevated", oneOf(elevatedLevels), text(func(p *api.SettingsPatch) **string { return &p.Elevated })},
	{"queue_mode", oneOf(queueModes), text(func(p *api.SettingsPatch) **chela.QueueMode { return &p.QueueMode })},
	{
		"queue_debounce_ms", "milliseconds, or -1 for none; 0 leaves it to the home",
		number(func(p *api.SettingsPatch) **int { return &p.QueueDebounceMS }),
	},
	{"queue_cap", "how many may wait; 0 leaves it to the home", number(func(p *api.SettingsPatch) **int { return &p.QueueCap })},
	{"queue_drop", oneOf(queueDrops), text(func(p *api.SettingsPatch) **chela.QueueDrop { return &p.QueueDrop })},
	{"thread", "the id of a thread of the session", text(func(p *api.SettingsPatch) **chela.ThreadID { return &p.Thread })},
	{"archived", "true or false", func(p *api.SettingsPatch, value string) bool {
		b, err := strconv.ParseBool(value)
		p.Archived = &b
		return err == nil
	}},
}

// kept are read-only settings, and later are settings without an effect in this
// version.
var (
	kept = []string{
		"key", "agent", "created_at", "updated_at", "usage", "chat_type", "display_name", "subject", "space", "compactions",
		"memory_flushes", "memory_flushed_at", "spawned_by", "archived_at", "last", "heartbeat_text", "heartbeat_sent_at", "skills",
	}
	later = []string{"auth_profile", "exec_host", "exec_security", "exec_ask", "send_policy", "group_activation"}
)

// text returns a parser for a string setting; apply validates the value.
func text[S ~string](at func(*api.SettingsPatch) **S) func(*api.SettingsPatch, string) bool {
	return func(p *api.SettingsPatch, value string) bool {
		s := S(value)
		*at(p) = &s
		return true
	}
}

// number returns a parser for a numeric setting; apply validates its bounds. An
// empty value is 0.
func number(at func(*api.SettingsPatch) **int) func(*api.SettingsPatch, string) bool {
	return func(p *api.SettingsPatch, value string) bool {
		n, err := strconv.Atoi(cmp.Or(value, "0"))
		*at(p) = &n
		return err == nil
	}
}

func oneOf[S ~string](of []S) string {
	return "one of " + strings.Join(words(of), ", ") + ", or nothing"
}

// Patch parses settings written as name=value, one per setting. An unknown name
// is Invalid, with a did-you-mean hint; a setting without an effect in this
// version is Unsupported.
func Patch(pairs []string) (p api.SettingsPatch, err error) {
	for _, pair := range pairs {
		name, value, ok := strings.Cut(pair, "=")
		if !ok {
			return p, chela.E(chela.Invalid, fmt.Sprintf("%.60q has no value", pair)).WithHint("write name=value, such as label=home")
		}
		i := slices.IndexFunc(settable, func(s setting) bool { return s.name == name })
		if i < 0 {
			return p, unknown(name)
		}
		if !settable[i].put(&p, value) {
			return p, wrong(name, value, settable[i].want)
		}
	}
	return p, nil
}

// unknown returns the error for a name that cannot be set.
func unknown(name string) error {
	if slices.Contains(kept, name) {
		return chela.E(chela.Invalid, name+" is read-only").WithHint("see chela sessions show")
	}
	if slices.Contains(later, name) {
		return chela.E(chela.Unsupported, name+" is not supported by this version").WithHint("leave it out")
	}
	names := make([]string, len(settable))
	for i, s := range settable {
		names[i] = s.name
	}
	e := chela.E(chela.Invalid, fmt.Sprintf("unknown setting %.60q", name))
	if near := nearest.Name(name, names); near != "" {
		return e.WithHint("did you mean " + near + "?")
	}
	return e.WithHint("use one of " + strings.Join(names, ", "))
}

func wrong(name, value, want string) error {
	return chela.E(chela.Invalid, fmt.Sprintf("%s cannot be %.60q", name, value)).WithHint("write " + want)
}

// apply applies a patch to settings.
func (ss *Sessions) apply(s *chela.Settings, p api.SettingsPatch) error {
	if p.Label != nil {
		if len(*p.Label) > maxLabel || *p.Label != "" && checkTitle(*p.Label, true) != nil {
			return wrong("label", *p.Label, "up to 200 letters on one line")
		}
		s.Label = *p.Label
	}
	if p.Model != nil {
		if *p.Model != "" {
			if err := ss.cfg.Usable(*p.Model); err != nil {
				return err
			}
		}
		s.Model = *p.Model
	}
	if p.Archived != nil {
		s.ArchivedAt = time.Time{}
		if *p.Archived {
			s.ArchivedAt = ss.now()
		}
	}
	for _, err := range []error{
		choose("thinking", &s.Thinking, p.Thinking, thinkingLevels), choose("verbose", &s.Verbose, p.Verbose, verboseLevels),
		choose("reasoning", &s.Reasoning, p.Reasoning, reasoningLevels), choose("response_usage", &s.ResponseUsage, p.ResponseUsage, usageLevels),
		choose("elevated", &s.Elevated, p.Elevated, elevatedLevels), p.ApplyQueue(&s.Queue),
	} {
		if err != nil {
			return err
		}
	}
	return nil
}

// choose sets a setting to an allowed value, or to the empty value.
func choose[S ~string](name string, at, to *S, words []S) error {
	if to == nil {
		return nil
	}
	if *to != "" && !slices.Contains(words, *to) {
		return wrong(name, string(*to), oneOf(words))
	}
	*at = *to
	return nil
}
