package chela_test

import (
	"go/ast"
	"io/fs"
	"slices"
	"strconv"
	"strings"
)

// A layer is a set of packages that may import the same layers. Packages of
// one layer import each other only where arrows says so.
type layer struct {
	name     string
	packages []string
	imports  []string // layers
	except   []string // packages of those layers that stay closed, but for tests
}

// layers is the import table of ARCHITECTURE.md, lowest first; the last one
// that a package fits is its own. A test may import its own layer, everything
// below, and test support.
var layers = []layer{
	{
		name:     "words",
		packages: []string{"."},
	},
	{
		name:     "ground",
		packages: []string{"internal/disk", "internal/fail", "internal/filelock", "internal/nearest", "internal/catalogue", "internal/excerpt", "internal/pause"},
		imports:  []string{"words"}, // the kinds of trouble that a test may ask for
	},
	{
		name: "databases",
		packages: []string{
			"internal/store/engine", "internal/store/budget", "internal/store/rows", "internal/store/documents", "internal/store/health", "internal/store/jobs", "internal/store/rewinds",
			"internal/store/routines",
			"internal/store/tokens", "internal/store/work",
		},
		imports: []string{"words", "ground"},
	},
	{
		name: "leaves",
		packages: []string{
			"internal/store", "internal/event", "internal/safety", "internal/policy", "internal/config/...",
			"internal/sandbox/...", "internal/worker", "internal/provider/...", "internal/channel/...", "internal/tool/...", "internal/api", "internal/blob", "internal/logfile", "internal/presence", "internal/vocabulary", "internal/inbox", "internal/queue", "internal/schedule", "internal/signature", "internal/hours", "internal/matcher", "internal/cue",
		},
		imports: []string{"words", "ground"},
	},
	{
		name: "engines",
		packages: []string{
			"internal/turn/...", "internal/call", "internal/control", "internal/journal", "internal/lane/...", "internal/rewind", "internal/prompt", "internal/compaction", "internal/guard", "internal/hook", "internal/repair", "internal/activity", "internal/approval", "internal/job/...",
			"internal/routine/...", "internal/notice", "internal/memory", "internal/cost", "internal/session", "internal/transcript", "internal/token", "internal/work/...",
			"internal/replay", "internal/routing",
			"internal/command/...",
		},
		imports: []string{"words", "ground", "leaves"},
		except:  []string{"internal/store"}, // each declares the storage it needs
	},
	{
		name:     "surfaces",
		packages: []string{"internal/gateway/...", "internal/cli/...", "internal/client"},
		imports:  []string{"words", "ground", "leaves", "engines"},
	},
	{
		name:     "wiring",
		packages: []string{"internal/app/..."},
		imports:  []string{"words", "ground", "leaves", "engines", "surfaces"},
	},
	{
		name:     "programs",
		packages: []string{"cmd/...", "bench/..."},
		imports:  []string{"words", "wiring"},
	},
	{
		name: testSupport,
		packages: []string{
			"internal/pgtest", "internal/testcount", "internal/fuzzall", "internal/vocabulary/build", "internal/store/storetest",
			"internal/provider/providertest", "internal/provider/openai/openaitest", "internal/provider/responses/responsestest", "internal/provider/anthropic/anthropictest", "internal/provider/gemini/geminitest", "internal/provider/ollama/ollamatest", "internal/provider/bedrock/bedrocktest", "internal/tool/tooltest", "internal/work/worktest",
			"internal/channel/channeltest",
		},
		imports: []string{"words", "ground", "leaves", "engines", testSupport},
	},
}

const testSupport = "test support"

// An arrow is an import between two packages that the layers would refuse.
type arrow struct{ from, to, reason string }

// arrows lists every exception to the layers.
var arrows = []arrow{
	{"internal/store", "internal/store/engine", "how transactions run is apart from what is kept; nobody else runs any"},
	{"internal/store", "internal/store/budget", "the sums of the ledger are rows of their own, changed with it"},
	{"internal/store/budget", "internal/store/engine", "they are changed in the transactions of the store"},
	{"internal/store/budget", "internal/store/rows", "their rows are read and written as all are"},
	{"internal/store", "internal/store/rows", "how values become columns is the same for all nouns"},
	{"internal/store/rows", "internal/store/engine", "rows are read and written in its transactions"},
	{"internal/store", "internal/store/documents", "documents are a part of every transaction, and a package of their own"},
	{"internal/store/documents", "internal/store/rows", "their rows are read and written as all are"},
	{"internal/store/documents", "internal/store/engine", "the row that is scanned is its"},
	{"internal/store", "internal/store/rewinds", "the ways of heads are a part of every transaction, and a package of their own"},
	{"internal/store/rewinds", "internal/store/rows", "their rows are read and written as all are"},
	{"internal/store/rewinds", "internal/store/engine", "the row that is scanned is its"},
	{"internal/store", "internal/store/health", "how tools do is a part of every transaction, and a package of its own"},
	{"internal/store/health", "internal/store/rows", "its rows are read and written as all are"},
	{"internal/store/health", "internal/store/engine", "the row that is scanned is its"},
	{"internal/store", "internal/store/jobs", "jobs are a part of every transaction, and a package of their own"},
	{"internal/store/jobs", "internal/store/rows", "their rows are read and written as all are"},
	{"internal/store/jobs", "internal/store/engine", "the row that is scanned is its"},
	{"internal/store", "internal/store/routines", "routines are a part of every transaction, and a package of their own"},
	{"internal/store/routines", "internal/store/rows", "their rows are read and written as all are"},
	{"internal/store/routines", "internal/store/engine", "the row that is scanned is its"},
	{"internal/store", "internal/store/tokens", "tokens and logins are a part of every transaction, and a package of their own"},
	{"internal/store/tokens", "internal/store/rows", "their rows are read and written as all are"},
	{"internal/store/tokens", "internal/store/engine", "the row that is scanned is its"},
	{"internal/store", "internal/store/work", "work that waits are a part of every transaction, and a package of their own"},
	{"internal/store/work", "internal/store/rows", "their rows are read and written as all are"},
	{"internal/store/work", "internal/store/engine", "the row that is scanned is its"},
	{"internal/config/...", "internal/config/...", "TOML and the kinds of values are packages of their own"},
	{"internal/app/...", "internal/app/...", "who answers, and what a home is made of, is apart from how all is wired"},
	{"internal/cli/...", "internal/cli/...", "what commands do is apart from how they behave"},
	{"internal/tool/...", "internal/tool/...", "each family of tools is a package of its own"},
	{"internal/tool/...", "internal/sandbox/...", "tools run programs under limits"},
	{"internal/provider/...", "internal/provider/wire", "what all protocols over HTTP have in common"},
	{"internal/provider/...", "internal/provider/openaiapi", "what both protocols of OpenAI have in common"},
	{"internal/provider/...", "internal/provider/claude", "models of Anthropic are asked to think in the same way, whoever serves them"},
	{"internal/sandbox/...", "internal/sandbox/...", "each kind of sandbox is a package of its own"},
	{"internal/sandbox/...", "internal/worker", "both ends of one protocol"},
	{"internal/worker", "internal/sandbox/...", "both ends of one protocol"},
	{"cmd/...", "internal/worker", "the program is its own worker"},
	{"bench/load/...", "bench/load/...", "the parts of one program: the fake model, the loads, the table"},
	{"internal/turn", "internal/turn/machine", "what a turn does next is apart from doing it"},
	{"internal/turn/...", "internal/prompt", "a turn asks for the prompt of its next step"},
	{"internal/turn", "internal/call", "a turn runs calls"},
	{"internal/turn", "internal/control", "a turn can be stopped and parked"},
	{"internal/call", "internal/control", "a call that was stopped is told from one whose time was up"},
	{"internal/lane", "internal/lane/...", "what a lane keeps in memory is apart from what it decides"},
	{"internal/lane/...", "internal/control", "a lane stops and parks its turns"},
	{"internal/lane/turns", "internal/store", "what a lane goes on with is decided and written in one transaction"},
	{"internal/lane/turns", "internal/journal", "a turn begins with the entries of its messages"},
	{"internal/lane/turns", "internal/turn/...", "a turn that waits is ended for another one"},
	{"internal/replay", "internal/call", "what calls came to that did not end by themselves is part of a record"},
	{"internal/replay", "internal/control", "a turn that is run again is stopped as it was then"},
	{"internal/turn", "internal/compaction", "a turn makes room in its prompt"},
	{"internal/compaction", "internal/prompt", "what leaves a prompt was planned there"},
	{"internal/replay", "internal/compaction", "a summary that was made is played, not made again"},
	{"internal/turn/machine", "internal/guard", "a turn ends when its model goes in circles"},
	{"internal/replay", "internal/prompt", "a turn that is run again has the frame of its agent"},
	{"internal/replay", "internal/turn/...", "the machine that runs a turn is the one that runs it again"},
	{"internal/replay", "internal/store", "the record of a turn is read in one transaction"},
	{"internal/turn", "internal/hook", "hooks see what passes a turn"},
	{"internal/lane/...", "internal/prompt", "a lane keeps the conversations of its sessions folded"},
	{"internal/journal", "internal/store", "a turn is read and written within the transaction of whoever decides about it"},
	{"internal/journal", "internal/turn/machine", "what is read is the state of a turn, what is written a change of it"},
	{"internal/lane", "internal/journal", "a lane reads the turns it runs and writes what becomes of them"},
	{"internal/lane", "internal/turn/...", "a lane runs turns"},
	{"internal/lane", "internal/session", "a message may find that its conversation begins anew"},
	{"internal/lane", "internal/store", "taking a message, a lease and a turn is one transaction"},
	{"internal/approval", "internal/store", "answering a question and waking its turn is one transaction"},
	{"internal/rewind", "internal/store", "a rewind and the head that it moves are one transaction"},
	{"internal/token", "internal/store", "tokens are rows and nothing else"},
	{"internal/notice", "internal/store", "a notice is owed in the transaction that makes it necessary"},
	{"internal/command/...", "internal/command/...", "what a family of commands does is apart from how commands are carried out"},
	{"internal/command/...", "internal/routine/form", "a routine is written in a message as it is everywhere"},
	{"internal/routine", "internal/store", "what fires, the run of it and the next time are one transaction"},
	{"internal/routine", "internal/routine/rule", "what routines are is apart from what is done with them"},
	{"internal/routine", "internal/work", "due times are rows that an engine performs"},
	{"internal/routine/...", "internal/notice", "people are told what a run came to"},
	{"internal/cost", "internal/store", "a row of the ledger and the budgets that it is taken from are one transaction"},
	{"internal/work", "internal/store", "claiming, renewing and ending work are transactions, and so is whatever adds it"},
	{"internal/repair", "internal/store", "a repair and the notice of it are one transaction"},
	{"internal/repair", "internal/activity", "what is stuck is found by its last sign"},
	{"internal/repair", "internal/turn/machine", "how often a turn may break is its business"},
	{"internal/memory", "internal/store", "looking at a document, changing it and giving an agent its first ones is one transaction"},
	{"internal/job", "internal/job/wording", "what is said of jobs is apart from what is done with them"},
	{"internal/job", "internal/store", "what becomes of a job, and the work that follows from it, are one transaction"},
	{"internal/job", "internal/work", "each step of a job is work that is done once"},
	{"internal/session", "internal/store", "a session and its current thread change in one transaction"},
	{"internal/session", "internal/transcript", "sessions are written down and read again"},
	{"internal/session", "internal/prompt", "what is read anew is counted anew"},
	{"internal/command", "internal/store", "a command, its reply and what it changes are one transaction"},
	{"internal/command/...", "internal/session", "what a session can be set to is in one place"},
	{"internal/command", "internal/rewind", "what a rewind did is told in the same words everywhere"},
	{"internal/command", "internal/lane", "a lane stores what was ordered, and stops turns"},
	{"internal/command", "internal/approval", "/approve and /deny answer questions"},
	{"internal/approval", "internal/lane/turns", "an answer lets its turn go on"},
	{"internal/gateway/...", "internal/gateway/...", "what lets requests in, and each protocol, is a package of its own"},
}

// An owner is who may import a package from outside the module, or one of the
// standard library that tempts.
type owner struct {
	imported string   // the package; of a module outside all below it too
	by       []string // folders
	tests    bool     // and every test
}

// owners keeps the types of others in the folders that need them.
var owners = []owner{
	{imported: "code.dny.dev/ssrf", by: []string{"internal/tool/..."}},
	{imported: "github.com/anthropics/anthropic-sdk-go", by: []string{"internal/provider/anthropic"}},
	{imported: "github.com/aws/aws-sdk-go-v2", by: []string{"internal/provider/bedrock/..."}},
	{imported: "github.com/aymanbagabas/go-udiff", by: []string{"internal/tool/..."}},
	{imported: "github.com/bluekeyes/go-gitdiff", by: []string{"internal/tool/..."}},
	{imported: "github.com/coder/websocket", by: []string{"internal/gateway/ws"}, tests: true},
	{imported: "github.com/getkin/kin-openapi", by: []string{"internal/gateway/openapi"}, tests: true},
	{imported: "github.com/google/go-cmp", tests: true},
	{imported: "github.com/google/jsonschema-go", by: []string{"internal/tool/..."}},
	{imported: "github.com/jackc/pgx/v5", by: []string{"internal/store/engine", "internal/pgtest"}, tests: true},
	{imported: "github.com/landlock-lsm/go-landlock", by: []string{"internal/sandbox/...", "internal/worker"}},
	{imported: "github.com/mattn/go-isatty", by: []string{"internal/cli/..."}},
	{imported: "github.com/openai/openai-go", by: []string{"internal/provider/openaiapi"}, tests: true},
	{imported: "github.com/pelletier/go-toml/v2", by: []string{"internal/config/tomlfile", "internal/catalogue"}},
	{imported: "github.com/rogpeppe/go-internal", tests: true},
	{imported: "github.com/santhosh-tekuri/jsonschema/v6", by: []string{"internal/tool"}},
	{imported: "github.com/spf13/cobra", by: []string{"internal/cli/..."}},
	{imported: "github.com/spf13/pflag", by: []string{"internal/cli"}},
	{imported: "github.com/tiktoken-go/tokenizer", by: []string{"internal/vocabulary/build"}, tests: true},
	{imported: "go.uber.org/goleak", tests: true},
	{imported: "go.yaml.in/yaml/v3", by: []string{"internal/provider/script"}},
	{imported: "golang.org/x/sync", by: []string{"internal/app/...", "internal/gateway/edge", "internal/lane", "internal/turn"}, tests: true},
	{imported: "golang.org/x/sys", by: []string{"internal/sandbox/...", "internal/worker", "internal/filelock", "internal/app/..."}},
	{imported: "golang.org/x/term", by: []string{"internal/cli"}},
	{imported: "golang.org/x/text", by: []string{"internal/tool/...", "internal/safety"}},
	{imported: "golang.org/x/tools", tests: true},
	{imported: "google.golang.org/genai", tests: true}, // what Google's SDK sends is held against what is sent here
	{imported: "modernc.org/libc", tests: true},        // a test stands below SQLite to see what it syncs
	{imported: "modernc.org/sqlite", by: []string{"internal/store/engine"}, tests: true},
	{imported: "mvdan.cc/sh/v3", by: []string{"internal/tool/...", "internal/policy"}},
	{imported: "pgregory.net/rapid", tests: true},

	{imported: "database/sql", by: []string{"internal/store/engine"}, tests: true},
	{imported: "log"},
	{imported: "plugin"},
	{imported: "testing", tests: true},
	{imported: "unsafe", by: []string{"internal/sandbox/...", "internal/worker"}, tests: true},
}

// checkArrows compares every import inside the module with the layers.
func checkArrows(m *module) (found []finding) {
	for _, dir := range m.folders {
		if from, _ := layerOf(dir.path); from.name == "" {
			found = append(found, m.finding(dir.sources[0].Name, dir.path, "package is in no layer of the import table"))
			continue
		}
		m.eachImport(dir, func(s *source, spec importSpec) {
			to, inside := strings.CutPrefix(spec.path, modulePath+"/")
			if spec.path == modulePath {
				to, inside = ".", true
			}
			if inside && to != dir.path && !mayImport(dir.path, to, s.test) {
				found = append(found, m.finding(spec.node, dir.path+" to "+to, "%s may not import %s", dir.name(), to))
			}
		})
	}
	return found
}

func mayImport(from, to string, test bool) bool {
	for _, a := range arrows {
		if in(from, []string{a.from}) && in(to, []string{a.to}) {
			return true
		}
	}
	lower, lowerRank := layerOf(to)
	upper, upperRank := layerOf(from)
	switch {
	case test:
		return lowerRank >= 0 && lowerRank <= upperRank || lower.name == testSupport
	default:
		return slices.Contains(upper.imports, lower.name) && !in(to, upper.except)
	}
}

// layerOf returns the layer of a folder and its rank. Without one the layer
// has no name.
func layerOf(dir string) (layer, int) {
	for rank, l := range slices.Backward(layers) {
		if in(dir, l.packages) {
			return l, rank
		}
	}
	return layer{}, -1
}

// checkOwners compares imports from outside the module with the owners.
func checkOwners(m *module) (found []finding) {
	for _, dir := range m.folders {
		m.eachImport(dir, func(s *source, spec importSpec) {
			o, known := ownerOf(spec.path)
			switch {
			case !known && fromOutside(spec.path):
				found = append(found, m.finding(spec.node, spec.path, "%s has no owner", spec.path))
			case known && !o.allows(dir.path, s.test):
				found = append(found, m.finding(spec.node, spec.path, "%s may not import %s", dir.name(), spec.path))
			}
		})
	}
	return found
}

func ownerOf(imported string) (owner, bool) {
	for _, o := range owners {
		if imported == o.imported || fromOutside(imported) && strings.HasPrefix(imported, o.imported+"/") {
			return o, true
		}
	}
	return owner{}, false
}

func (o owner) allows(dir string, test bool) bool {
	l, _ := layerOf(dir)
	return in(dir, o.by) || o.tests && (test || l.name == testSupport)
}

// fromOutside reports whether a module other than this one holds the package:
// only their names begin with a host.
func fromOutside(imported string) bool {
	host, _, _ := strings.Cut(imported, "/")
	return strings.Contains(host, ".")
}

// checkDependencies wants every module that is imported to be explained in
// docs/dependencies.md.
func checkDependencies(m *module) (found []finding) {
	page, err := fs.ReadFile(m.root, "docs/dependencies.md")
	explained := string(page)
	if err != nil {
		explained = err.Error()
	}
	seen := map[string]bool{}
	for _, dir := range m.folders {
		m.eachImport(dir, func(_ *source, spec importSpec) {
			o, known := ownerOf(spec.path)
			if !known || !fromOutside(o.imported) || seen[o.imported] {
				return
			}
			seen[o.imported] = true
			if !strings.Contains(explained, "`"+o.imported+"`") {
				found = append(found, m.finding(spec.node, o.imported, "docs/dependencies.md does not explain %s", o.imported))
			}
		})
	}
	return found
}

// An importSpec is one import of a file.
type importSpec struct {
	path string
	node ast.Node
}

func (m *module) eachImport(dir *folder, look func(*source, importSpec)) {
	for _, s := range dir.sources {
		for _, spec := range s.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err == nil {
				look(s, importSpec{path: imported, node: spec})
			}
		}
	}
}
