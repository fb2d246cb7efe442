package offline

import (
	"strconv"
	"strings"
)

func listForms() []form {
	const place = `(?: (?:in|of|under|inside|at) ` + dirRE + `)?`
	const deep = `,? (?:recursively|and (?:all )?subdirectories|with subdirectories)`
	return []form{
		newForm(`(?:list|show|ls|see|get)(?: me)?(?P<all> all)?(?: of)?(?: the| my)?(?: files?| directory| directories| folders?| contents| everything)(?: and (?:the )?(?:folders|directories))?(?: here)?(?P<deep>`+deep+`)?`+place+`(?P<deeper>`+deep+`)?`, asList),
		newForm(`(?:what|which) (?:files|folders|directories)(?: and (?:files|folders|directories))? (?:are|do (?:i|you|we) have)(?: there)?(?: here)?`+place, asList),
		newForm(`what(?:'s| is) (?:in|inside) (?:the |this |my )?(?:current )?(?:directory|folder|workspace)`, asList),
		newForm(`what(?:'s| is) (?:in|inside) the (?:directory|folder) (?P<dir>\S+)`, asList),
		newForm(`what(?:'s| is) (?:in|inside) (?P<dir>\S+/)`, asList),
		newForm(`what(?:'s| is) (?:in|inside) (?:the )?(?P<dir>\S+) (?:directory|folder)`, asList),
		newForm(`(?:ls|dir)(?: -\w+)?(?: (?P<dir>[^\s-]\S*))?`, asList),
		newForm(`list `+dirRE, func(g groups) (meaning, bool) {
			if !isDir(g["dir"]) {
				return meaning{}, false
			}
			return asList(g)
		}),
	}
}

func asList(g groups) (meaning, bool) {
	args := map[string]any{"path": dirOf(g["dir"])}
	if g["deep"] != "" || g["deeper"] != "" {
		args["recursive"] = true
	}
	return do(action{tool: "list_dir", args: args})
}

// dirOf returns the path of a directory named in words.
func dirOf(name string) string {
	switch dir := unquote(name); strings.ToLower(dir) {
	case "", "here", "workspace", "directory", "folder", "project", "this", "current", "files", "./", "all":
		return "."
	default:
		return dir
	}
}

var commonDirs = lazy(`^(?:\.|src|docs?|internal|cmd|lib|bin|tests?|testdata|pkg|web|bench|scripts?|config|notes|workspace|here)$`)

// isDir reports whether a bare name is probably a directory.
func isDir(name string) bool {
	return isQuoted(name) || strings.Contains(name, "/") && !strings.Contains(name, "://") || commonDirs().MatchString(name)
}

var (
	fileName   = lazy(`^[^\s:]*[\pL\pN_-]*\.[\pL\pN_-]*\pL[\pL\pN_-]*$`)
	knownNames = lazy(`^(?:README|LICENSE|LICENCE|Makefile|Dockerfile|CHANGELOG|TODO|NOTES|AUTHORS|VERSION)$`)
)

// isFile reports whether a bare name is probably a file.
func isFile(name string) bool {
	if isQuoted(name) {
		return true
	}
	if strings.HasSuffix(name, "/") || strings.Contains(name, "://") {
		return false
	}
	return fileName().MatchString(name) || knownNames().MatchString(name) || strings.Contains(name, "/")
}

// fileOf returns the path of a file named in words. Unless saysFile is set, the
// name must look like a file's.
func fileOf(name string, saysFile bool) (any, bool) {
	switch lower := strings.ToLower(name); {
	case name == "":
		return nil, false
	case lower == "it" || lower == "that" || lower == "this":
		return earlierPath, true
	case saysFile || isFile(name):
		return unquote(name), true
	default:
		return nil, false
	}
}

func readForms() []form {
	const read = `(?P<verb>read|open|cat|show|display|print|view|see|get|look at|what(?:'s| is) in)(?: me)?(?: out)?(?: again)? `
	const content = `(?:the )?(?:(?:full |whole |entire )?(?:contents?|text) (?:of|in) )?(?:the )?(?P<file>file )?`
	const path = `(?P<path>` + nameRE + `)`
	return []form{
		newForm(read+`(?:the )?first (?P<count>\d+) lines (?:of|in|from) (?:the )?(?P<file>file )?`+path, asRead),
		newForm(read+`(?:the )?lines (?P<from>\d+) ?(?:to|-|–|through|until) ?(?P<to>\d+) (?:of|in|from) (?:the )?(?P<file>file )?`+path, asRead),
		newForm(read+content+path+`(?: (?:from|starting at) line (?P<from>\d+))?`, asRead),
		newForm(`what (?:does|do) (?:the )?(?P<file>file )?`+path+` (?:say|contain)`, asRead),
		newForm(`(?:read|open|cat|show|print) (?:me )?(?:the )?(?:files? )?(?P<paths>.+)`, asReads),
	}
}

var listJoint = lazy(`,? and |, `)

// asReads parses a list such as "a.txt, b.txt and c.txt"; each name must look
// like a file's.
func asReads(g groups) (meaning, bool) {
	var actions []action
	for _, name := range listJoint().Split(g["paths"], -1) {
		if !isFile(name) || strings.Contains(name, " ") {
			return meaning{}, false
		}
		actions = append(actions, action{tool: "read_file", args: map[string]any{"path": unquote(name)}})
	}
	return do(actions...)
}

func asRead(g groups) (meaning, bool) {
	path, ok := fileOf(g["path"], g["file"] != "" || strings.EqualFold(g["verb"], "cat"))
	if !ok {
		return meaning{}, false
	}
	args := map[string]any{"path": path}
	if n, err := strconv.Atoi(g["count"]); err == nil {
		args["limit"] = n
	}
	if from, err := strconv.Atoi(g["from"]); err == nil {
		args["offset"] = from
		if to, err := strconv.Atoi(g["to"]); err == nil && to >= from {
			args["limit"] = to - from + 1
		}
	}
	return do(action{tool: "read_file", args: args})
}

func writeForms() []form {
	const path = `(?P<path>` + nameRE + `)`
	const named = `(?:(?:a |the )?(?:new )?(?:text )?(?P<file>file )(?:called |named )?)?`
	const saying = `(?:with|containing|that (?:says|contains|reads)|saying|which (?:says|contains))(?: (?:the )?(?:text|contents?|words?|line))?:? `
	return []form{
		newForm(`(?:create|make|touch) (?:an? )?(?:new )?(?:empty )?(?P<file>(?:text )?file )(?:called |named )?`+path+`(?: (?:with no content|that is empty))?`, asWrite),
		newForm(`(?:create|make|write|save|overwrite)(?: to)? `+named+path+`,? `+saying+`(?P<content>.+)`, asWrite),
		newForm(`(?:write|save|put) (?:in)?to `+named+path+`:\s*(?P<content>.+)`, asWrite),
		newForm(`(?:write|save|put|store|dump) (?P<content>.+) (?:(?:in)?to|in|as) `+named+path, asWrite),
		newForm(`copy `+named+path+` (?:in)?to (?:a |the )?(?:file )?(?P<target>\S+)`, asCopy),
		newForm(`(?:in (?P<path2>\S+?),? )?(?:replace|change|substitute) (?P<all>all |every |each )?(?:occurrences? of |the (?:words?|text) )?(?P<old>`+quotedRE+`|.+?) (?:with|by|to|for) (?P<new>.+?)(?P<everywhere> everywhere)?(?: (?:in|inside) (?:the )?(?P<file>file )?(?P<path>`+quotedRE+`|\S+))?(?P<everywhere2> everywhere)?`, asPatch),
	}
}

var (
	itself      = lazy(`(?i)^(?:` + itRE + `)$`)
	contentLead = lazy(`(?i)^the (?:text|words?|line|string|sentence|contents?):? `)
)

func asWrite(g groups) (meaning, bool) {
	path, ok := fileOf(g["path"], g["file"] != "")
	if !ok || strings.Contains(g["path"], "://") {
		return meaning{}, false
	}
	var content any = unquote(contentLead().ReplaceAllString(g["content"], ""))
	if itself().MatchString(g["content"]) {
		content = earlierText
	}
	if path == earlierPath && content == earlierText {
		return meaning{}, false
	}
	return do(action{tool: "write_file", args: map[string]any{"path": path, "content": content}})
}

func asCopy(g groups) (meaning, bool) {
	from, ok := fileOf(g["path"], g["file"] != "")
	if !ok || !isFile(g["target"]) {
		return meaning{}, false
	}
	return do(
		action{tool: "read_file", args: map[string]any{"path": from}},
		action{tool: "write_file", args: map[string]any{"path": unquote(g["target"]), "content": earlierText}},
	)
}

func asPatch(g groups) (meaning, bool) {
	name := g["path"]
	if name == "" {
		name = g["path2"]
	}
	path, ok := fileOf(name, g["file"] != "")
	if !ok {
		return meaning{}, false
	}
	args := map[string]any{"path": path, "old_string": unquote(g["old"]), "new_string": unquote(g["new"])}
	if g["all"] != "" || g["everywhere"] != "" || g["everywhere2"] != "" {
		args["replace_all"] = true
	}
	return do(action{tool: "apply_patch", args: args})
}
