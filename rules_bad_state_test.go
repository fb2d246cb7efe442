package chela_test

var badState = []badSource{
	{
		rule: "nothing runs on import",
		files: sources{
			"internal/engine/turn/turn.go": "package turn\nimport _ \"net/http/pprof\"\nimport _ \"embed\"\nfunc init() {}\nfunc (r Runner) init() {}",
			"internal/store/store.go":      `package store; import _ "modernc.org/sqlite"`,
		},
		want: []string{`init runs on import`, `"net/http/pprof" is imported for what it does on import`},
	},
	{
		rule: "package variables never change",
		files: sources{
			"internal/engine/turn/turn.go": `package turn
import "net/http"
var table, other = map[string]int{}, []int{}
var list, count, item, field, flag, kept = []int{}, 1, 1, Noun{}, true, 1
func f() {
	table["a"] = 1
	delete(other, 1)
	list = append(list, 1)
	count++
	for item = range list { }
	field.x.y = 1
	_ = &flag
	http.DefaultClient = nil
	kept := 2
	kept = 3
	_ = kept
}`,
			"internal/engine/turn/second.go": "package turn\nfunc g() { count = 2 }",
		},
		want: []string{
			"package variable count is changed or may be",
			"package variable table is changed or may be",
			"package variable other is changed or may be",
			"package variable list is changed or may be",
			"package variable count is changed or may be",
			"package variable item is changed or may be",
			"package variable field is changed or may be",
			"package variable flag is changed or may be",
			"package variable http.DefaultClient is changed or may be",
		},
	},
	{
		rule: "package variables never change",
		files: inTurn(`
import ("bytes"; "embed"; "errors"; "regexp"; "sync")
var buffer bytes.Buffer
var lock = &sync.Mutex{}
var cache = make(map[string]int)
//go:embed all.md
var files embed.FS
var errFull = errors.New("full")
var pattern = regexp.MustCompile("a")
var none []string
var late = sync.OnceValue(func() int { return 1 })
`),
		want: []string{
			"package variable buffer can only be of use by changing",
			"package variable lock can only be of use by changing",
			"package variable cache can only be of use by changing",
		},
	},
	{
		rule: "contexts are first and never kept",
		files: sources{
			"internal/engine/turn/turn.go": `package turn
import ("context"; "testing")
type Kept struct { ctx context.Context }
func second(a int, ctx context.Context) {}
func first(ctx context.Context, a int) {}
func tested(t *testing.T, ctx context.Context) {}
type runFunc func(int, context.Context)
`,
		},
		want: []string{"context is kept in a struct", "context is not the first parameter", "context is not the first parameter"},
	},
}

var badCalls = []badSource{
	{
		rule: "goroutines have owners",
		files: sources{
			"internal/engine/turn/turn.go":      "package turn\nimport \"time\"\nfunc f() { time.AfterFunc(1, f); go f(); group.Go(f) }",
			"internal/engine/turn/turn_test.go": "package turn_test\nfunc f() { go f() }",
		},
		want: []string{
			"goroutine is begun outside the listed owners",
			"goroutine is begun outside the listed owners",
			"goroutine is begun outside the listed owners",
		},
	},
	{
		rule: "the environment is read in config",
		files: sources{
			"internal/engine/turn/turn.go": "package turn\nimport system \"os\"\nvar a, b = system.Getenv(\"A\"), system.LookupEnv",
			"internal/config/config.go":    "package config\nimport \"os\"\nvar a = os.Getenv(\"A\")",
		},
		want: []string{"os.Getenv is used outside the configuration", "os.LookupEnv is used outside the configuration"},
	},
	{
		rule: "connections are guarded",
		files: sources{
			"internal/tool/web/web.go":      "package web\nimport \"net/http\"\nvar a *http.Client\nvar b = http.Client{}",
			"internal/tool/web/smtp.go":     "package web\nimport tcp \"net\"\nvar c = tcp.Dial",
			"internal/tool/web/web_test.go": "package web_test\nimport \"net\"\nvar a = net.Dial",
		},
		want: []string{"net.Dial connects beside the guarded dialer", "http.Client connects beside the guarded dialer"},
	},
	{
		rule: "time and randomness come from outside",
		files: sources{
			"internal/engine/turn/turn.go":      "package turn\nimport (\"time\"; \"math/rand/v2\")\nvar a, b = time.Now, rand.Int()",
			"internal/engine/turn/turn_test.go": "package turn_test\nimport \"time\"\nvar a = time.Now()",
		},
		want: []string{"time.Now is not handed in", "randomness of math/rand/v2 is not handed in"},
	},
	{
		rule:  "tests never sleep",
		files: sources{"internal/engine/turn/turn_test.go": "package turn_test\nimport \"time\"\nfunc f() { time.Sleep(1) }"},
		want:  []string{"time.Sleep waits for nothing in particular"},
	},
	{
		rule: "only commands print",
		files: sources{
			"internal/engine/turn/turn.go": "package turn\nimport (\"fmt\"; \"os\")\nfunc f() { fmt.Println(); fmt.Fprintln(os.Stderr); println(); fmt.Sprint() }",
			"internal/surface/cli/cli.go":  "package cli\nimport \"fmt\"\nfunc f() { fmt.Println() }",
		},
		want: []string{"fmt.Println prints outside the commands", "os.Stderr is used outside the commands", "built-in print"},
	},
	{
		rule:  "nothing logs globally",
		files: inTurn("import \"log/slog\"\nfunc f(l *slog.Logger) { l.Info(\"said\"); slog.Info(\"said\") }"),
		want:  []string{"log/slog.Info writes to a logger that was not handed in"},
	},
	{
		rule: "nothing panics at run time",
		files: sources{
			"internal/engine/turn/turn.go": "package turn\nimport \"os\"\nfunc f() { panic(\"no\"); os.Exit(1) }",
			"cmd/chela/main.go":            "package main\nimport \"os\"\nfunc main() { os.Exit(1) }",
		},
		want: []string{"os.Exit ends the process outside a command", "panic"},
	},
	{
		rule: "errors say what was being done",
		files: inTurn("import (\"errors\"; \"fmt\"; \"chela\")\n" +
			"var a = errors.New(\"failed to run\")\nvar b = fmt.Errorf(\"Could not run: %w\", a)\n" +
			"var c = chela.E(chela.Invalid, \"unable to run\")\nvar d = errors.New(\"run: failed turn\")"),
		want: []string{
			`error text "failed to run" says nothing by its beginning`,
			`error text "Could not run: %w" says nothing by its beginning`,
			`error text "unable to run" says nothing by its beginning`,
		},
	},
}
