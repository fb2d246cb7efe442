package session

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"chela"
	"chela/internal/api"
	"chela/internal/platform/nearest"
)

// levels are the values of the settings with a fixed list, by name. The empty
// value is allowed everywhere and means the default of the agent or the home.
var levels = map[string][]string{
	"thinking": words(
		chela.ThinkingOff, chela.ThinkingMinimal, chela.ThinkingLow, chela.ThinkingMedium, chela.ThinkingHigh, chela.ThinkingXHigh,
	),
	"verbose":        {"off", "on", "full"},
	"reasoning":      {"off", "on", "stream"},
	"response_usage": {"off", "tokens", "full"},
	"elevated":       {"off", "ask", "on", "full"},
	"profile":        words(chela.Profiles()...),
	"queue_mode": words(
		chela.QueueCollect, chela.QueueFollowup, chela.QueueSteer, chela.QueueSteerBacklog, chela.QueuePlain, chela.QueueInterrupt,
	),
}

// Levels returns the values of a setting, and nil for a setting without a fixed
// list.
func Levels(setting string) []string { return levels[setting] }

func words[S ~string](of ...S) []string {
	list := make([]string, len(of))
	for i, w := range of {
		list[i] = string(w)
	}
	return list
}

// maxLabel is the maximum length of a label, in bytes.
const maxLabel = 200

// settable are the settings that people may change, by their names in commands
// and over HTTP.
var settable = []string{
	"label", "model", "thinking", "verbose", "reasoning", "response_usage", "elevated", "profile", "queue_mode", "queue_debounce_ms", "queue_cap",
	"queue_drop", "thread", "archived",
}

// wanted describes the values of the settings that are not text.
var wanted = map[string]string{
	"queue_debounce_ms": "milliseconds, or -1 for none; 0 leaves it to the home",
	"queue_cap":         "how many may wait; 0 leaves it to the home",
	"archived":          "true or false",
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

// Patch parses settings written as name=value, one per setting. An unknown name
// is Invalid, with a did-you-mean hint; a setting without an effect in this
// version is Unsupported.
func Patch(pairs []string) (p api.SettingsPatch, err error) {
	values := map[string]any{}
	for _, pair := range pairs {
		name, value, ok := strings.Cut(pair, "=")
		if !ok {
			return p, chela.Ef(chela.Invalid, "%.60q has no value", pair).WithHint("write name=value, such as label=home")
		}
		if !slices.Contains(settable, name) {
			return p, unknown(name)
		}
		if values[name], err = parse(name, value); err != nil {
			return p, wrong(name, value, wanted[name])
		}
	}
	raw, err := json.Marshal(values)
	if err == nil {
		err = json.Unmarshal(raw, &p)
	}
	return p, err
}

// parse parses the value of a setting; apply validates it. An empty number is 0.
func parse(name, value string) (any, error) {
	switch {
	case name == "archived":
		return strconv.ParseBool(value)
	case wanted[name] != "":
		return strconv.Atoi(cmp.Or(value, "0"))
	default:
		return value, nil
	}
}

// unknown returns the error for a name that cannot be set.
func unknown(name string) error {
	if slices.Contains(kept, name) {
		return chela.E(chela.Invalid, name+" is read-only").WithHint("see chela sessions show")
	}
	if slices.Contains(later, name) {
		return chela.E(chela.Unsupported, name+" is not supported by this version").WithHint("leave it out")
	}
	e := chela.Ef(chela.Invalid, "unknown setting %.60q", name)
	if near := nearest.Name(name, settable); near != "" {
		return e.WithHint("did you mean " + near + "?")
	}
	return e.WithHint("use one of " + strings.Join(settable, ", "))
}

func wrong(name, value, want string) error {
	return chela.Ef(chela.Invalid, "%s cannot be %.60q", name, value).WithHint("write " + want)
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
	return cmp.Or(
		choose("thinking", &s.Thinking, p.Thinking), choose("verbose", &s.Verbose, p.Verbose), choose("reasoning", &s.Reasoning, p.Reasoning),
		choose("response_usage", &s.ResponseUsage, p.ResponseUsage), choose("elevated", &s.Elevated, p.Elevated), choose("profile", &s.Profile, p.Profile),
		p.ApplyQueue(&s.Queue),
	)
}

// choose sets a setting to an allowed value, or to the empty value.
func choose[S ~string](name string, at, to *S) error {
	if to == nil {
		return nil
	}
	if *to != "" && !slices.Contains(levels[name], string(*to)) {
		return wrong(name, string(*to), "one of "+strings.Join(levels[name], ", ")+", or nothing")
	}
	*at = *to
	return nil
}
