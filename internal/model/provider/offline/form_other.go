package offline

import (
	"encoding/json"
	"strings"
)

func echoForms() []form {
	return []form{
		newVerbatim(`(?:echo|say|repeat(?: after me)?):? (?P<message>.+)`, func(g groups) (meaning, bool) {
			var message any = unquote(g["message"])
			if itself().MatchString(strings.TrimRight(g["message"], ".!?")) {
				message = earlierText
			}
			return do(action{tool: "echo", args: map[string]any{"message": message}})
		}),
	}
}

func jsonForms() []form {
	const given = `(?:(?:this|the|following|as|if|whether)[: ]+)*(?:json(?: document| text)?(?: is valid)?)?:?\s*`
	const value = `(?P<data>[{\["` + "`" + `].*|it|that|this)`
	return []form{
		newForm(`(?:parse|format|pretty[- ]?print|indent) `+given+value, asJSON("parse")),
		newForm(`(?:validate|check)(?: that)? `+given+value, asJSON("parse")),
		newForm(`(?:validate|check|parse) (?:this |the following )?json:?\s+(?P<data>.+)`, asJSON("parse")),
		newForm(`is (?:this|the following|it) (?:valid )?json:?\s*(?P<data>.+)`, asJSON("parse")),
		newForm(`is (?P<data>[{\["`+"`"+`].*) valid(?: json)?`, asJSON("parse")),
		newForm(`(?:stringify|compact|minify) `+given+value, asJSON("stringify")),
		newForm(`(?:query|get|extract|pick|select|what is|what's|find) (?P<path>[\w.$*/\[\]'-]+) (?:in|from|of) `+given+value, asJSON("query")),
		newForm(`query `+given+`(?:for|by|with) (?P<path>[\w.$*/\[\]'-]+)[: ]\s*`+value, asJSON("query")),
		newForm(`query `+given+value+` (?:for|by|with) (?P<path>[\w.$*/\[\]'-]+)`, asJSON("query")),
	}
}

func asJSON(operation string) func(groups) (meaning, bool) {
	return func(g groups) (meaning, bool) {
		args := map[string]any{"operation": operation, "data": unquoteJSON(g["data"])}
		if operation == "stringify" && json.Valid([]byte(g["data"])) {
			args["data"] = rawJSON(g["data"])
		}
		if itself().MatchString(g["data"]) {
			args["data"] = earlierText
		}
		if operation == "query" {
			args["path"] = strings.TrimPrefix(unquote(g["path"]), ".")
		}
		return do(action{tool: "json", args: args})
	}
}

// rawJSON is an argument that is itself JSON, rather than text.
type rawJSON string

// MarshalJSON returns r unchanged.
func (r rawJSON) MarshalJSON() ([]byte, error) { return []byte(r), nil }

// unquoteJSON removes quotes, except a JSON string's own.
func unquoteJSON(text string) string {
	if json.Valid([]byte(text)) {
		return text
	}
	return unquote(text)
}

func httpForms() []form {
	const url = `(?:the )?(?:(?:page|url|site|website|contents?)(?: of| at| from)? )?<?(?P<url>https?://[^\s>"'` + "`" + `]+|(?:www\.)?(?:[a-z0-9-]+\.)+(?:com|org|net|io|dev|edu|gov|de|uk)(?:/[^\s>"'` + "`" + `]*)?)>?`
	const method = `(?P<method>post|put|patch|delete|head|options)`
	return []form{
		newForm(`(?:download|save|fetch|get) `+url+` (?:in)?to (?:the )?(?:file )?(?P<file>\S+)`, asHTTP),
		newForm(`(?:fetch|get|download|open|visit|load|request|curl|read|show me|what(?:'s| is) (?:at|on))(?: me)? `+url, asHTTP),
		newForm(method+` (?:a request )?(?:to )?`+url+`(?: with (?:the )?(?:body|data|json|payload)?:? ?(?P<body>.+))?`, asHTTP),
		newForm(method+` (?P<body>.+) to `+url, asHTTP),
		newForm(`(?:send|make) (?:a |an )?`+`(?P<method>get|post|put|patch|delete|head|options) request to `+url+`(?: with (?:the )?(?:body|data|json|payload)?:? ?(?P<body>.+))?`, asHTTP),
	}
}

func asHTTP(g groups) (meaning, bool) {
	url := strings.TrimRight(g["url"], ".,;!?")
	if !strings.Contains(url, "://") {
		url = "https://" + url
	}
	method := strings.ToUpper(g["method"])
	if method == "" {
		method = "GET"
	}
	args := map[string]any{"method": method, "url": url}
	if body := g["body"]; itself().MatchString(body) {
		args["body"] = earlierText
	} else if body != "" {
		args["body"] = unquoteJSON(body)
	}
	if g["file"] != "" {
		if !isFile(g["file"]) {
			return meaning{}, false
		}
		args["save_to"] = unquote(g["file"])
	}
	return do(action{tool: "http", args: args})
}

// programs matches the first words that mark a line as a command. Lines in
// backticks, or called a command, need no such word.
var programs = lazy(`^(?:ls|cat|echo|pwd|date|whoami|uname|id|env|git|go|gofmt|make|npm|npx|node|yarn|pnpm|python3?|pip3?|ruby|perl|cargo|rustc|gcc|cc|java|mvn|gradle|` +
	`docker|kubectl|curl|wget|grep|rg|find|sed|awk|sort|uniq|wc|head|tail|tee|cut|tr|mkdir|rmdir|rm|cp|mv|ln|touch|chmod|chown|du|df|ps|top|kill|sleep|true|false|test|printf|seq|tar|zip|unzip|gzip|` +
	`sh|bash|zsh|sqlite3|psql|jq|hostname|uptime|which|diff|patch|tree|stat|file|xargs|ping|ssh|scp|rsync|systemctl|apt|apt-get|brew|sudo|nproc|free|\.{0,2}/\S+)$`)

func shellForms() []form {
	const run = `(?:run|execute|exec) `
	const where = `(?: in (?P<dir>\S+))?`
	quoted := func(g groups) (meaning, bool) { return asShell(g, true) }
	return []form{
		newForm(run+`(?:the )?(?:(?:shell )?command:? )?(?P<command>`+"`[^`]+`"+`|"[^"]+")`+where, quoted),
		newForm(run+`(?:the )?(?:shell )?command:? (?P<command>.+)`, quoted),
		newForm(`\$ (?P<command>.+)`, quoted),
		newForm("`(?P<command>[^`]+)`", func(g groups) (meaning, bool) { return asShell(g, false) }),
		newForm(run+`(?P<command>.+)`, func(g groups) (meaning, bool) { return asShell(g, false) }),
	}
}

func asShell(g groups, sure bool) (meaning, bool) {
	command := unquote(g["command"])
	first, _, _ := strings.Cut(command, " ")
	if command == "" || !sure && !programs().MatchString(first) {
		return meaning{}, false
	}
	args := map[string]any{"command": command}
	if g["dir"] != "" {
		args["workdir"] = dirOf(g["dir"])
	}
	return do(action{tool: "shell", args: args})
}

func talkForms() []form {
	words := func(text string) func(groups) (meaning, bool) {
		return func(groups) (meaning, bool) { return meaning{words: text, talk: true}, true }
	}
	const name = `(?:,? (?:there|chela|again|everyone|all|friend))?`
	return []form{
		newForm(`(?:hi|hello|hey|hiya|howdy|greetings|good (?:morning|afternoon|evening|day))`+name+`(?:,? how are you(?: doing)?(?: today)?)?`, words(greeting)),
		newForm(`how are you(?: doing)?(?: today)?|how do you do|what's up`, words("All rules in order, thank you.")),
		newForm(`(?:thanks|thank you|thx|cheers)(?: (?:so|very) much| a lot)?`+name, words("You are welcome.")),
		newForm(`(?:bye|goodbye|good night|see you(?: later)?)`+name, words("Goodbye.")),
		newForm(`(?:who|what) are you|help(?: me)?|what can you do|what do you do|what (?:model|llm|ai) are you|which model (?:is this|are you)`, words(about)),
	}
}
