package offline

import (
	"strings"
)

// clockRE matches a time of day, or a date and time.
const clockRE = `\d{1,2}(?::\d\d){0,2} ?(?:am|pm|o'clock)?|noon|midnight|\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?)?(?:Z|[+-]\d\d:?\d\d)?`

// dateRE matches the operands of a time difference.
const dateRE = `now|today|\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?)?(?:Z|[+-]\d\d:?\d\d)?`

func timeForms() []form {
	const (
		what = `(?:(?:what(?:'s|s| is)?|tell|show|check|get) )?(?:me )?(?:the )?(?:current |local |exact |today's )?`
		when = `(?: (?:right now|now|today|currently|at the moment))?`
	)
	return []form{
		newForm(what+`(?:time|date|day|weekday|day of the week)(?: and (?:the )?(?:time|date|day))?(?: is it| it is| is)?(?: today)?`+when+
			`(?: (?:in|for|at) (?P<places>.+?))?`+when, asNow),
		newForm(what+`(?P<places>.+?)(?:'s)? time`+when, func(g groups) (meaning, bool) { return nowIn(g["places"]) }),
		newForm(`(?:convert |what(?:'s| is) |what time is )?(?P<clock>`+clockRE+`)(?: in| from)? (?P<from>.+?)(?: time)? (?:to|in|into|as) (?P<to>.+?)(?: time)?`, asConvert),
		newForm(`(?:when|if) it(?:'s| is) (?P<clock>`+clockRE+`) in (?P<from>.+?),? what time is it in (?P<to>.+)`, asConvert),
		newForm(`convert (?P<clock>`+clockRE+`) (?:to|into) (?P<to>.+?)(?: time)?`, asConvert),
		newForm(`(?:(?:what(?:'s| is) the |the )?(?:difference|time|duration) |how (?:long is it|long|many (?:days|hours|minutes|seconds)(?: are there)?) )(?:between|from) (?P<a>`+dateRE+`) (?:and|to|until|till) (?P<b>`+dateRE+`)`, asDiff),
		newForm(`how (?:long|many (?:days|hours)) (?:is it )?until (?P<b>`+dateRE+`)`, asDiff),
		newForm(`parse (?:the )?(?:time|date|timestamp) (?P<time>.+)`, func(g groups) (meaning, bool) {
			return do(action{tool: "time", args: map[string]any{"operation": "parse", "time": unquote(g["time"])}})
		}),
		newForm(`format (?:the )?(?:time|date|timestamp)? ?(?P<time>`+dateRE+`|\d{9,13}) (?:as|with|in) (?P<format>.+)`, func(g groups) (meaning, bool) {
			return do(action{tool: "time", args: map[string]any{
				"operation": "format", "time": g["time"], "format": unquote(g["format"]),
			}})
		}),
	}
}

func asNow(g groups) (meaning, bool) {
	if g["places"] == "" {
		return do(action{tool: "time", args: map[string]any{"operation": "now"}})
	}
	if m, ok := nowIn(g["places"]); ok {
		return m, true
	}
	if plainName().MatchString(g["places"]) {
		return say("I do not know in which time zone " + g["places"] + " is; please name a big city near it, or a zone such as Europe/Berlin.")
	}
	return meaning{}, false
}

// plainName matches the possible name of a place.
var plainName = lazy(`^\pL[\pL'-]*(?: \pL[\pL'-]*){0,2}$`)

var placeJoint = lazy(`,? and (?:in )?|, (?:in )?`)

// nowIn requests the time in one or several places, all of which must be known.
func nowIn(places string) (meaning, bool) {
	var actions []action
	for _, place := range placeJoint().Split(places, -1) {
		zone, ok := zoneOf(place)
		if !ok {
			return meaning{}, false
		}
		actions = append(actions, action{
			tool:  "time",
			args:  map[string]any{"operation": "now", "zone": zone},
			place: strings.TrimPrefix(place, "the "),
		})
	}
	return do(actions...)
}

func asConvert(g groups) (meaning, bool) {
	to, ok := zoneOf(g["to"])
	if !ok {
		return meaning{}, false
	}
	args := map[string]any{"operation": "convert", "time": clock(g["clock"]), "to_zone": to}
	if g["from"] != "" {
		from, ok := zoneOf(g["from"])
		if !ok {
			return meaning{}, false
		}
		args["zone"] = from
	} else if !strings.Contains(g["clock"], "-") {
		return meaning{}, false // a time of day is ambiguous without its place
	}
	return do(action{tool: "time", args: args, place: g["to"]})
}

// clock rewrites a time of day in the syntax of the time tool.
func clock(text string) string {
	text = strings.ToLower(strings.TrimSpace(text))
	switch text {
	case "noon":
		return "12:00"
	case "midnight":
		return "00:00"
	}
	if hour, ok := strings.CutSuffix(text, "o'clock"); ok {
		text = strings.TrimSpace(hour)
	}
	if len(text) <= 2 { // an hour alone
		return text + ":00"
	}
	return strings.ToUpper(strings.ReplaceAll(text, " am", "am"))
}

func asDiff(g groups) (meaning, bool) {
	args := map[string]any{"operation": "diff"}
	for name, text := range map[string]string{"time": g["a"], "until": g["b"]} {
		if text = strings.ToLower(text); text != "" && text != "now" && text != "today" {
			args[name] = strings.ToUpper(text)
		}
	}
	return do(action{tool: "time", args: args})
}
