package offline

import (
	"regexp"
	"strings"
)

func searchForms() []form {
	const (
		find  = `(?:find|list|show|locate|look for|search for|which are)(?: me)?(?: all)?(?: the)? `
		place = `(?:,? (?:in|under|inside) ` + dirRE + `)?`
		glob  = `(?P<pattern>` + quotedRE + `|\S+)`
		what  = `(?P<what>` + quotedRE + `|.+?)`
		files = `(?:all |the |any |these |my )*(?:(?P<kind>\w+) )?(?:files?|code|project|workspace|sources?|source code)`
	)
	return []form{
		newForm(find+`files? (?:matching|named|called|like|that match|with the name|with names like) `+glob+place, asGlob),
		newForm(`(?:which|what) files (?:match|are (?:named|called)|are there matching) `+glob+place, asGlob),
		newForm(`glob `+glob+place, asGlob),
		newForm(find+`(?P<kind>\.?\w+) files`+place, asGlob),
		newForm(find+glob+`(?: files)?`+place, func(g groups) (meaning, bool) {
			if !strings.ContainsAny(g["pattern"], "*?[") {
				return meaning{}, false
			}
			return asGlob(g)
		}),
		newForm(`(?:search|look|grep|find)(?: for)? `+what+` in `+files+`(?: (?:in|under) `+dirRE+`)?`, asGrep),
		newForm(`(?:search|look through|grep) `+files+` for `+what+place, asGrep),
		newForm(`(?:which|what|find|list)(?: all)?(?: the)?(?: (?P<kind>\w+))? files (?:that )?(?:contain|containing|mention|mentioning|have|with)(?: the (?:text|words?))? `+what+place, asGrep),
		newForm(`where (?:is|are) `+what+` (?:used|mentioned|defined)(?: in (?:the code|`+dirRE+`))?`, asGrep),
		newForm(`grep(?: -\w+)?(?: for)? (?P<what>`+quotedRE+`|\S+)(?:(?: in)? `+dirRE+`)?`, asGrep),
		newForm(`(?:search|look|find)(?: for)? `+what+` in `+dirRE, func(g groups) (meaning, bool) {
			if !isDir(g["dir"]) && !isFile(g["dir"]) && !strings.ContainsAny(g["dir"], "*") {
				return meaning{}, false
			}
			return asGrep(g)
		}),
	}
}

// extensions maps named kinds of files to their extensions.
var extensions = map[string]string{
	"go": "go", "golang": "go", "python": "py", "javascript": "js", "typescript": "ts", "rust": "rs", "java": "java", "ruby": "rb",
	"c": "c", "markdown": "md", "text": "txt", "txt": "txt", "json": "json", "yaml": "yaml", "toml": "toml", "html": "html",
	"css": "css", "csv": "csv", "log": "log", "shell": "sh", "sql": "sql", "xml": "xml", "pdf": "pdf", "png": "png", "md": "md",
}

// patternOf returns the glob for a kind of files, such as ".go" or "Go".
func patternOf(kind string) (string, bool) {
	kind = strings.ToLower(kind)
	if ext, ok := strings.CutPrefix(kind, "."); ok && ext != "" {
		return "**/*." + ext, true
	}
	ext, ok := extensions[kind]
	return "**/*." + ext, ok
}

func asGlob(g groups) (meaning, bool) {
	pattern := unquote(g["pattern"])
	if g["kind"] != "" {
		var ok bool
		if pattern, ok = patternOf(g["kind"]); !ok {
			return meaning{}, false
		}
	}
	if !strings.Contains(pattern, "/") {
		pattern = "**/" + pattern // in any directory
	}
	args := map[string]any{"pattern": pattern}
	if g["dir"] != "" {
		args["path"] = dirOf(g["dir"])
	}
	return do(action{tool: "glob", args: args})
}

// asGrep treats the text literally, unless it is written /like this/.
func asGrep(g groups) (meaning, bool) {
	what := unquote(g["what"])
	args := map[string]any{"pattern": what}
	if len(what) > 2 && strings.HasPrefix(what, "/") && strings.HasSuffix(what, "/") {
		args["pattern"] = what[1 : len(what)-1]
	} else if regexp.QuoteMeta(what) != what {
		args["literal"] = true
	}
	switch dir := dirOf(g["dir"]); {
	case g["dir"] == "":
	case strings.ContainsAny(dir, "*?"):
		args["include"] = dir
	default:
		args["path"] = dir
	}
	if g["kind"] != "" {
		include, ok := patternOf(g["kind"])
		if !ok {
			return meaning{}, false
		}
		args["include"] = strings.TrimPrefix(include, "**/")
	}
	return do(action{tool: "grep", args: args})
}
