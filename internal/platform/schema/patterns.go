package schema

// Parts of patterns. Spaces are the characters of [unicode.IsSpace], written
// out, because \s differs between engines.
const (
	spaces  = "\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
	wide    = "\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000" // spaces except the usual one
	control = `\x00-\x1f\x7f-\x9f`
	hidden  = "\u00ad\u0600-\u0605\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ue000-\uf8ff\ufeff\ufff0-\uffff\U000e0000-\U0010ffff"

	// A name in the path of a document begins and ends with a visible
	// character, and not with a dot.
	firstChar  = `[^` + control + spaces + hidden + `./\\]`
	lastChar   = `[^` + control + spaces + hidden + `/\\]`
	innerChar  = `[^` + control + wide + hidden + `/\\]`
	folderName = firstChar + `(` + innerChar + `*` + lastChar + `)?`

	// A number of days up to 36500, and a day of the years 1000 to 2999.
	daysAgo = `([0-9]{1,4}|[12][0-9]{4}|3[0-5][0-9]{3}|36[0-4][0-9]{2}|36500)d`
	day     = `[12][0-9]{3}-(` + `(0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8]))` +
		`|([12][0-9](0[48]|[2468][048]|[13579][26])|1[26]00|2[048]00)-02-29`

	name = `[a-z][a-z0-9_-]{0,63}`

	// keyPart is one part of a session key: the characters that
	// [url.PathEscape] leaves alone except the colon, and upper-case escapes of
	// the rest, in well-formed UTF-8.
	keyPart = `([A-Za-z0-9$&+=@_.~-]|%(2[0-35789ACF]|3[ABCEF]|5[BCDE]|60|7[BCD])` +
		`|%C2%[AB][0-9A-F]|%(C[3-9A-F]|D[0-9A-F])%[89AB][0-9A-F]|%E0%[AB][0-9A-F]%[89AB][0-9A-F]` +
		`|%(E[1-9A-CEF])%[89AB][0-9A-F]%[89AB][0-9A-F]|%ED%[89][0-9A-F]%[89AB][0-9A-F]` +
		`|%F0%[9AB][0-9A-F]%[89AB][0-9A-F]%[89AB][0-9A-F]|%F[1-3](%[89AB][0-9A-F]){3}|%F4%8[0-9A-F](%[89AB][0-9A-F]){2})+`
)

// patterns are the named patterns for strings. They mean the same in Go, in
// Python and in ECMAScript.
var patterns = map[string]string{
	"text":      `^[^\x00]*$`,
	"said":      `^[^\x00]*[^\x00` + spaces + `][^\x00]*$`,
	"line":      `^[^` + control + `]*$`,
	"title":     `^[^` + control + `]*[^` + control + spaces + `][^` + control + `]*$`,
	"label":     `^([^` + control + `]*[^` + control + spaces + `][^` + control + `]*)?$`,
	"anymodel":  `^(` + name + `/[^` + control + spaces + `]+)?$`,
	"channel":   `^` + name + `$`,
	"ascii":     `^[!-~]+$`,
	"printable": `^[!-~]([ -~]*[!-~])?$`,
	"name":      `^` + name + `$`,
	"hook":      `^` + name + `(/` + name + `)*$`,
	"model":     `^` + name + `/[^` + control + spaces + `]+$`,
	"reference": `^(env:[A-Za-z_][A-Za-z0-9_]*|secret:[A-Za-z0-9][A-Za-z0-9._-]{0,63}|exec:[^` + control + `]*[^` + control + spaces + `][^` + control + `]*)$`,
	"hash":      `^[0-9a-f]{64}$`,
	"clock":     `^([01][0-9]|2[0-3]):[0-5][0-9]$`,
	"end":       `^(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)$`,
	"document":  `^(` + folderName + `/)*(` + folderName + `|` + firstChar + `)\.(md|txt)$`,
	"folder":    `^(` + folderName + `(/` + folderName + `)*/?)?$`,
	"path":      `^[A-Za-z0-9_-][A-Za-z0-9_.-]*(/[A-Za-z0-9_-][A-Za-z0-9_.-]*)*$`,
	"place":     `^[^` + control + `/]+(/[^` + control + `/]+)*$`,
	"key":       `^[a-z][a-z0-9_-]*(\.[A-Za-z0-9_-]+)*$`,
	"mark":      `^[^` + control + spaces + `-][^` + control + spaces + `]*$`,
	"since":     `^(` + daysAgo + `|` + day + `)$`,
	"seen":      `^[0-9]{1,15}\.[0-9]{1,15}\.[0-9]{1,9}$`,
	"lastseen":  `^([0-9]{1,15}\.[0-9]{1,15}\.[0-9]{1,9})?$`,
	"session": `^(agent:` + name + `:(main|((` + name + `:)?dm|` + name + `:(group|channel)|subagent|job):` + keyPart + `)|(cron|hook):` + keyPart +
		`)(:thread:` + keyPart + `)?$`,
}

// hints describe the form that a named pattern expects. Names may share a
// pattern, such as channel and name; one of them has the hint.
var hints = map[string]string{
	"text":      "remove the NUL characters",
	"said":      "write some text",
	"line":      "write it on one line, without control characters",
	"title":     "write some text on one line",
	"label":     "write some text on one line, or nothing",
	"anymodel":  "write it as provider/model",
	"ascii":     "use printable ASCII characters without blanks",
	"printable": "use printable ASCII characters, without blanks at either end",
	"name":      "use up to 64 lower-case letters, digits, - and _, and begin with a letter",
	"hook":      "use names separated by slashes, such as github/push",
	"model":     "write it as provider/model",
	"reference": "write it as secret:NAME for a secret of the vault, or env:NAME for a variable of the environment",
	"hash":      "use a SHA-256 in 64 lower-case hexadecimal digits",
	"clock":     "write a time of the day, such as 08:30",
	"end":       "write a time of the day, such as 22:00 or 24:00",
	"document":  "use the path of a document, such as notes/plants.md: names separated by slashes, with .md or .txt at the end, without . and ..",
	"folder":    "use the path of a folder, such as notes/2026, without . and ..",
	"path":      "use names of letters, digits, -, _ and dots, separated by slashes",
	"place":     "use the path of a file below the workspace, such as src/main.go",
	"key":       "use the name of a setting, such as limits.steps",
	"mark":      "use one word that does not begin with -",
	"since":     "write a day, such as 2026-11-23, or a number of days, such as 7d",
	"seen":      "use the cursor that an earlier answer gave",
	"lastseen":  "use the cursor that an earlier answer gave, or nothing",
	"session":   "use a key such as agent:main:main or agent:main:dm:NAME (chela sessions list shows those that exist)",
}

// Pattern returns the pattern of a name.
func Pattern(name string) (string, bool) {
	p, ok := patterns[name]
	return p, ok
}
