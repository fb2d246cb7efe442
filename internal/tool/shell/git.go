package shell

import (
	"slices"
	"strings"
)

// Options of git that several of its commands share.
const (
	gitDiffFlags = "pusUMCBDRawbzmct0123456789lrSG"
	gitDiffLong  = `patch no-patch raw unified= stat? numstat shortstat dirstat? summary compact-summary name-only name-status color? no-color word-diff?
		color-words? no-renames find-renames? find-copies? check full-index binary abbrev? cached staged merge-base diff-filter= exit-code quiet relative?
		text ignore-all-space ignore-space-change ignore-blank-lines ignore-space-at-eol minimal patience histogram diff-algorithm= function-context
		no-ext-diff no-textconv no-prefix inter-hunk-context= submodule? pickaxe-regex pickaxe-all src-prefix= dst-prefix= cc`
	gitLogFlags = gitDiffFlags + "igEFPkq"
	gitLogLong  = gitDiffLong + ` oneline graph all branches? tags? remotes? decorate? no-decorate pretty? format= abbrev-commit no-abbrev-commit max-count= skip= since= until= after=
		before= author= committer= grep= all-match invert-grep regexp-ignore-case fixed-strings extended-regexp merges no-merges first-parent reverse
		follow date= topo-order date-order ancestry-path boundary left-right cherry-pick cherry left-only right-only simplify-by-decoration
		full-history no-walk? notes? no-notes show-pulls relative-date source name-rev parents children count encoding= clear-decorations walk-reflogs`
)

// gitVerbs are the commands of git that only read, with their grammars.
var gitVerbs = map[string]grammar{
	"blame":        {flags: "lstfneswcMCp0123456789", valued: "L", long: "porcelain line-porcelain show-name show-number show-email date= since= root abbrev="},
	"branch":       {flags: "arvq", long: "all remotes verbose show-current contains? no-contains? merged? no-merged? list sort= format= color? no-color column? no-column points-at=", operands: atMost(0)},
	"cat-file":     {flags: "tspe"},
	"check-ignore": {flags: "qvnz", long: "quiet verbose non-matching no-index"}, "count-objects": {flags: "vH", long: "verbose human-readable"},
	"config":   {flags: "lz", long: "list get get-all get-regexp show-origin show-scope name-only local global null type="},
	"describe": {long: "tags all long always dirty? abbrev= exact-match match= exclude= contains first-parent candidates="},
	"diff":     {flags: gitDiffFlags, long: gitDiffLong + " no-index"}, "diff-tree": {flags: gitDiffFlags, long: gitDiffLong + " root stdin no-commit-id"},
	"diff-index": {flags: gitDiffFlags, long: gitDiffLong}, "diff-files": {flags: gitDiffFlags, long: gitDiffLong},
	"for-each-ref": {long: "count= sort= format= points-at= merged? no-merged? contains? no-contains? color?"},
	"grep": {
		flags: "inwlLchHEFGPvqoIazp0123456789", valued: "eABCmf",
		long: "ignore-case line-number word-regexp files-with-matches count invert-match extended-regexp fixed-strings perl-regexp show-function heading break cached untracked no-index and or not max-depth= context= before-context= after-context= name-only all-match",
	},
	"log": {flags: gitLogFlags, valued: "nL", long: gitLogLong}, "show": {flags: gitLogFlags, valued: "n", long: gitLogLong}, "whatchanged": {flags: gitLogFlags, valued: "n", long: gitLogLong},
	"ls-files": {flags: "cdmostuikvz", valued: "xX", long: "cached deleted modified others stage unmerged ignored exclude-standard exclude= full-name error-unmatch directory eol abbrev?"},
	"ls-tree":  {flags: "drtlz", long: "name-only name-status full-name full-tree long abbrev? format="}, "merge-base": {flags: "a", long: "all is-ancestor fork-point octopus independent"},
	"name-rev": {long: "tags refs= all name-only always"}, "reflog": {flags: "n0123456789", long: "date= all format= oneline", operands: reflogShown},
	"remote": {flags: "v", long: "verbose", operands: remoteShown}, "rev-list": {flags: "0123456789", valued: "n", long: gitLogLong + " objects objects-edge"},
	"rev-parse": {flags: "q", long: "abbrev-ref? short? verify show-toplevel show-prefix show-cdup git-dir git-common-dir is-inside-work-tree is-bare-repository symbolic symbolic-full-name all branches? tags? remotes? quiet"},
	"shortlog":  {flags: "nsecg", long: "numbered summary email group= all since= until= author= no-merges"}, "show-ref": {flags: "hdsq", long: "head heads tags branches dereference hash? verify quiet exclude-existing"},
	"stash":   {flags: gitDiffFlags, long: gitLogLong, operands: stashShown},
	"status":  {flags: "sbuvz", long: "short branch porcelain? long verbose untracked-files? ignored? ignore-submodules? show-stash ahead-behind no-ahead-behind renames no-renames column? no-column"},
	"tag":     {flags: "ln0123456789", long: "list sort= format= contains? no-contains? merged? no-merged? points-at= color? column?", operands: atMost(0)},
	"version": {long: "build-options"}, "worktree": {long: "porcelain", operands: verbsOnly("list")},
}

// gitChanges are the commands of git that change the repository or reach
// another, with the options with which they do what their name says.
var gitChanges = map[string]grammar{
	"add":      {flags: "vnfAu", long: "all update verbose dry-run force intent-to-add chmod="},
	"branch":   {flags: "arvqdmct", long: "all remotes verbose show-current list delete move copy track? no-track"},
	"commit":   {flags: "avqsnz", valued: "m", long: "all message= amend no-edit signoff verbose quiet dry-run allow-empty date= author= fixup="},
	"checkout": {flags: "qb", long: "quiet detach track? no-track ours theirs"}, "switch": {flags: "qcd", long: "quiet create= detach track?"},
	"clone": {flags: "qvlns", valued: "bo", long: "quiet verbose branch= depth= bare single-branch no-checkout no-tags", operands: local},
	"fetch": {operands: local, flags: "avqpt", long: "all prune tags verbose quiet depth= dry-run no-tags"}, "pull": {operands: local, flags: "avqp", long: "all rebase? ff-only no-ff ff prune tags verbose quiet no-rebase"},
	"push": {operands: local, flags: "vqnu", long: "set-upstream tags dry-run verbose quiet all"}, "merge": {flags: "qn", valued: "m", long: "no-ff ff-only squash abort continue no-commit message= quiet"},
	"mv": {flags: "kvn"}, "rm": {flags: "rnq", long: "cached dry-run quiet"}, "rebase": {flags: "q", long: "abort continue skip onto= quiet autostash"},
	"reset": {flags: "q", long: "soft mixed quiet"}, "restore": {flags: "qSW", long: "staged worktree source= quiet"}, "revert": {flags: "n", long: "no-edit no-commit abort continue"},
	"stash": {flags: "uaqk", valued: "m", long: "include-untracked all quiet keep-index message=", operands: verbs("push pop apply list show save branch")},
	"tag":   {flags: "ad", valued: "m", long: "annotate delete message="}, "init": {flags: "qb", long: "quiet bare"},
	"worktree": {flags: "b", long: "detach", operands: verbs("add list prune remove")}, "cherry-pick": {flags: "nx", long: "abort continue skip no-commit"},
	"config": {long: "global local add unset"}, "remote": {flags: "v", operands: verbs("add get-url remove rename set-url show prune")},
}

// gitNature classifies a command of git. The configuration of the repository
// may make git run programs; a command that reads is confined for that reason.
func gitNature(args []word) nature {
	for len(args) > 0 && args[0].fixed && among("--no-pager -P --no-optional-locks --literal-pathspecs", args[0].text) {
		args = args[1:]
	}
	if len(args) == 1 && args[0].text == "--version" {
		return natureReads
	}
	if len(args) == 0 || !args[0].fixed || strings.HasPrefix(args[0].text, "-") {
		return natureSurprising
	}
	verb, rest := args[0].text, args[1:]
	reads, known := gitVerbs[verb]
	if known && reads.accepts(rest) && (verb != "config" || command{words: append([]word{{}}, args...)}.readsConfig()) {
		return natureReads
	}
	if changes, ok := gitChanges[verb]; ok && changes.accepts(rest) {
		return natureNamed
	}
	return natureSurprising
}

// withoutHarmlessSettings returns a command of git without its own options -c that set
// what makes git run no program and obey no file.
func (c command) withoutHarmlessSettings() command {
	words := c.words[:1:1]
	rest := c.words[1:]
	for len(rest) > 0 && rest[0].fixed && strings.HasPrefix(rest[0].text, "-") {
		n := 1
		if among(gitValued, rest[0].text) {
			n = min(2, len(rest))
		}
		if n == 1 || rest[0].text != "-c" || !rest[1].fixed || !harmlessSetting(rest[1].text) {
			words = append(words, rest[:n]...)
		}
		rest = rest[n:]
	}
	c.words = append(words, rest...)
	return c
}

// harmlessSetting reports whether a setting of git, as KEY=VALUE, names no program, no
// file and no other place.
func harmlessSetting(setting string) bool {
	key, value, _ := strings.Cut(setting, "=")
	key = strings.ToLower(key) // as git compares sections and names
	switch {
	case among("user.name user.email init.defaultbranch", key), strings.HasPrefix(key, "color."), strings.HasPrefix(key, "advice."):
		return true
	case key == "core.pager":
		return value == "cat" || value == "" && strings.Contains(setting, "=")
	case key == "commit.gpgsign":
		return among("false no off 0", strings.ToLower(value))
	}
	return false
}

// readsConfig reports whether git config only reads.
func (c command) readsConfig() bool {
	return c.option("l", "list") || slices.ContainsFunc(c.words, func(w word) bool {
		return w.fixed && among("--get --get-all --get-regexp", w.text)
	})
}

// verbsOnly accepts operands of which the first is one of some words, and no
// others.
func verbsOnly(words string) func([]word) bool {
	return func(operands []word) bool { return len(operands) == 1 && verbs(words)(operands) }
}

func remoteShown(operands []word) bool { return len(operands) == 0 || verbs("get-url")(operands) }

func reflogShown(operands []word) bool { return len(operands) == 0 || verbs("show")(operands) }

func stashShown(operands []word) bool { return verbs("list show")(operands) }

// goReads and goChanges have the grammars of commands of go.
var (
	goReads = map[string]grammar{
		"version": {dash: true, long: "m v"}, "env": {dash: true, long: "json changed", operands: without("=")}, "doc": {dash: true, long: "all c cmd short src u"},
		"list": {dash: true, long: "m json? f= deps test e find versions retracted mod= tags="}, "help": {},
	}
	goChanges = map[string]grammar{
		"test": {dash: true, long: `v race short run= skip= count= timeout= bench= benchtime= benchmem cover covermode= coverpkg= cpu= failfast json list= parallel=
			shuffle= tags= mod= p= x n a trimpath vet= fullpath`},
		"build": {dash: true, long: "v race tags= mod= p= x n a trimpath"}, "vet": {dash: true, long: "v tags= mod= json"}, "fmt": {dash: true, long: "n x mod="},
		"install": {dash: true, long: "v race tags= mod= p= trimpath"}, "mod": {dash: true, long: "v x e", operands: verbs("tidy download verify graph why vendor")}, "run": {dash: true, long: "race", stops: true},
		"get": {dash: true, long: "u t v x"}, "generate": {dash: true, long: "n v x"}, "clean": {dash: true, long: "n x cache testcache"},
	}
)

// goNature classifies a command of go.
func goNature(args []word) nature {
	switch {
	case len(args) == 0:
		return natureReads
	case !args[0].fixed:
		return natureSurprising
	}
	if g, ok := goReads[args[0].text]; ok {
		return readsIf(g.accepts(args[1:]))
	}
	if g, ok := goChanges[args[0].text]; ok && g.accepts(args[1:]) {
		return natureNamed
	}
	return natureSurprising
}
