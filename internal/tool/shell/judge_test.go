package shell_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"chela"
	"chela/internal/platform/excerpt"
	"chela/internal/tool/shell"
)

// Lines that are taken apart: one canonical subject for each command, wrapped
// ones included.
func TestJudgeSubjects(t *testing.T) {
	t.Parallel()
	checkSubjects(t, []subjectCase{
		{"git status", []string{"git status"}},
		{"  git   'status'  # look", []string{"git status"}},
		{`g"i"t st\atus`, []string{"git status"}},
		{"ls -la; pwd && make || echo no", []string{"ls -la", "pwd", "make", "echo no"}},
		{"cat a | grep b |& wc -l", []string{"cat a", "grep b", "wc -l"}},
		{"(cd x; ls) & { date; }", []string{"cd x", "ls", "date"}},
		{"! true\nfalse", []string{"true", "false"}},
		{"go test ./... 2>&1 | tail -n 20", []string{"go test ./...", "tail -n 20"}},
		{"make > /dev/null 2>&1", []string{"make"}},
		{"echo 'a b' \"c'd\" ''", []string{`echo 'a b' "c'd" ''`}},
		{"git log --format=%h", []string{"git log --format=%h"}},
		{"ls *.go $HOME ~ ${x} {a,b}", []string{"ls *.go $HOME ~ ${x} {a,b}"}},
		{"sudo -u bob rm x", []string{"sudo -u bob rm x", "rm x"}},
		{"nice -n 5 nohup timeout -k 1 10 make", []string{"nice -n 5 nohup timeout -k 1 10 make", "nohup timeout -k 1 10 make", "timeout -k 1 10 make", "make"}},
		{"env -i -u A make -j", []string{"env -i -u A make -j", "make -j"}},
		{"find . -name '*.o' | xargs -0 rm", []string{"find . -name '*.o'", "xargs -0 rm", "rm {}"}},
		{"find . -exec grep x {} ';'", []string{"find . -exec grep x {} ';'", "grep x {}"}},
		{"bash -c 'ls; date'", []string{"bash -c 'ls; date'", "ls", "date"}},
		{`sh -ec "sh -c 'make x'"`, []string{`sh -ec "sh -c 'make x'"`, "sh -c 'make x'", "make x"}},
		{"command -v go", []string{"command -v go"}},
		{"bash build.sh", []string{"bash build.sh"}},
		{"printf '%s' x", []string{"printf %s x"}},
		{"echo a z A Z 0 9 _ @%+=:,./^-", []string{"echo a z A Z 0 9 _ @%+=:,./^-"}},
		{`echo "a\b" "a\$b" "a\\b"`, []string{`echo 'a\b' 'a$b' 'a\b'`}},
		{"echo a\\\nb", []string{"echo ab"}},
		{"ls #look", []string{"ls"}},
		{"echo 0= 9= a= z= A= Z= _=", []string{"echo 0= 9= a= z= A= Z= _="}},
		{"command", []string{"command"}},
		{"command -v", []string{"command -v"}},
		{"echo [a", []string{"echo [a"}},
		{`echo a\b`, []string{"echo ab"}},
		{"echo $'a'", []string{"echo $'a'"}},
		{"[ -f x ]", []string{"'[' -f x ]"}},
		{"test -f vR", []string{"test -f vR"}},
		{"ls 2>&- >&1", []string{"ls"}},
		{"ls >> /dev/null", []string{"ls"}},
		{"sh -c ls; echo $HOME", []string{"sh -c ls", "ls", "echo $HOME"}}, // the text of the inner line ends with it
	})
}

// Options of wrappers are told from what they wrap.
func TestJudgeWrapped(t *testing.T) {
	t.Parallel()
	checkSubjects(t, []subjectCase{
		{"timeout -- 10 make", []string{"timeout -- 10 make", "make"}},
		{"timeout --", []string{"timeout --"}},
		{"nohup -- make", []string{"nohup -- make", "make"}},
		{"env --unset=A --ignore-environment make", []string{"env --unset=A --ignore-environment make", "make"}},
		{"timeout --kill-after=5 --foreground 10 make", []string{"timeout --kill-after=5 --foreground 10 make", "make"}},
		{"nice -n5 make", []string{"nice -n5 make", "make"}},
		{"nice -5 make", []string{"nice -5 make", "make"}},
		{"sudo -nu bob make", []string{"sudo -nu bob make", "make"}},
		{"sudo -u", []string{"sudo -u"}},
		{"timeout -k", []string{"timeout -k"}},
		{"command -V go", []string{"command -V go"}},
		{"command -p go", []string{"command -p go", "go"}},
		{"busybox rm x", []string{"busybox rm x", "rm x"}},
		{"ls | xargs", []string{"ls", "xargs", "echo {}"}},
		{"ls | xargs -n 1 -r rm", []string{"ls", "xargs -n 1 -r rm", "rm {}"}},

		{"find . -exec ls ';'", []string{"find . -exec ls ';'", "ls"}},
		{"find . -exec echo -fls ';'", []string{"find . -exec echo -fls ';'", "echo -fls"}},
		{"find . -exec cp a a{}b ';' -name x", []string{"find . -exec cp a a{}b ';' -name x", "cp a a{}b"}},
		{"bash --version", []string{"bash --version"}},
		{"bash --help", []string{"bash --help"}},
		{"bash --norc --noprofile --posix build.sh", []string{"bash --norc --noprofile --posix build.sh"}},
		{"bash -x build.sh -c ls", []string{"bash -x build.sh -c ls"}},
		{"bash -xe -c ls", []string{"bash -xe -c ls", "ls"}},
		{"bash +x -c ls", []string{"bash +x -c ls", "ls"}},
		{"sh -c ls a b", []string{"sh -c ls a b", "ls"}},
	})
}

// A subjectCase is a line that can be taken apart.
type subjectCase struct {
	line string
	want []string // its subjects
}

func checkSubjects(t *testing.T, cases []subjectCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.line, func(t *testing.T) {
			t.Parallel()
			got := shell.Judge(c.line)
			if diff := cmp.Diff(c.want, got.Subjects); diff != "" || got.Exact {
				t.Errorf("exact %v, subjects (-want +got):\n%s", got.Exact, diff)
			}
			if got.Effect != chela.EffectExecute || got.Resume != chela.ResumeUnknown {
				t.Errorf("effect %q, resume %q", got.Effect, got.Resume)
			}
		})
	}
}

// Lines whose commands are not certain: the whole line is the subject, and no
// wildcard may cover it.
func TestJudgeExact(t *testing.T) {
	t.Parallel()
	lines := []string{
		"git status $(rm x)", "echo `id`", "echo \"$(id)\"", "cat <(id)", "tee >(id)", "$cmd", "{rm,x}", "r* x", "~/x", "./[a]x",
		"echo ${x:-$(id)}", "echo ${x:=y}", "echo ${!x}", "echo ${x@P}", "echo ${a[0]}", "echo $((1+1))", "$'git' status",
		"cat <<E\nx\nE", "cat <<< x", "sort < file", "echo x > file", "echo x >> file", "make &> log", "> file", "echo x >&file", "exec 3<> x",
		"A=1 git status", "A=1", "PATH=. ls", "export A=1", "declare x", "local x", "readonly x=1",
		"if true; then ls; fi", "for x in a; do ls; done", "while true; do ls; done", "case x in a) ls;; esac", "f() { ls; }", "function f { ls; }",
		"[[ -v x ]]", "((1))", "let x=1", "time ls", "coproc ls", "select x in a; do ls; done",
		"eval ls", "source x", ". x", "alias ls=rm", "trap ls EXIT", "set -x", "shopt -s extglob", "hash -p x git", "enable -f x y", "unset PATH",
		"read PATH", "printf -v PATH x", "test -v 'a[$(id)]'", "[ -v x ]", "wait -p x", "jobs -x ls", "mapfile -C x y", "compgen -W x",
		"env A=1 ls", "env -S 'ls -l'", "env --split-string='ls'", "env -vS 'rm x'", "sudo -s", "sudo -i", "sudo A=1 ls", "sudo --preserve=x ls", "nohup $x",
		"xargs -a list rm --x=$(y)", "timeout --k=1 1 ls", "nice --adj=1 ls", "exec -z ls", "find . -exec ls {} ; -exec rm {} ;",
		"find . -fprint x", "find *", "sh -c \"$x\"", "sh -c", "sh", "bash -s", "bash -i", "bash -lc ls", "bash --rcfile x", "bash -O extglob -c ls", "bash -c -- ls", "sh -c '$0' rm",
		"ls; > /dev/null", "ls >&$x", "ls > $x", "test $x", "[ $x ]", "/bin/test -v x", "test -R x", "wait -n $x", "time",
		"echo ${x:1}", "echo ${x/a/b}", "echo ${!x*}", `echo $"x"`, "echo @(a|b)", "env - ls", "env -i - ls", "nohup - ls", "bash -", "bash --", "sh -c ' '", "sh -c ls$x",
		"find . -exec ';'", "find . -exec ls", "find . -exec ls ';' -fls x", "find . -exec $x ';'", "nice -z ls", "env -z ls", "sudo $x ls",
		"sh -c ''", "# nothing", strings.Repeat("sudo ", 10) + "ls",
	}
	for _, line := range lines {
		got := shell.Judge(line)
		if !got.Exact || len(got.Subjects) != 1 {
			t.Errorf("%.60q: exact %v, subjects %.200q", line, got.Exact, got.Subjects)
		}
	}
}

// Lines that the real shell may read in another way than the parser have no
// subject at all: no pattern allows them, and those that forbid match them.
func TestJudgeOpaque(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		"git status\r#; rm x", "git status\r\n", "git status \\\r\n; rm x", "git status\v", "git status\f", "git\x01 status", "git status\x7f", "echo 'a\x1bb'",
		"git\u00a0status", "git\u0085status", "git\u2003status", "git\u2028status", "git\u3000status", "git \u200bstatus", "git \ufeffstatus", "git \u00adstatus", "echo \u202ex",
		"a\x00b", "git status\xff", "\xc2", "\xe3\x80", "git status # \\\nrm x", "#\\\nrm x", "git status #\\\\\nrm x", "case 1 in b) ls $$#a;; (*) rm x\n;; esac", "ß=1[", "a}=[[ }", "echo `: 'a\\\nb'`", "git status \\",
		"'", "if", "git status\n)", "sh -c 'a ||'", "eval 'if'", "", "  ", strings.Repeat("(", 70_000),
	} {
		got := shell.Judge(line)
		if !got.Opaque() || !got.Exact || !got.Floor() || got.Risk == "" {
			t.Errorf("%.60q: %+v", line, got)
		}
	}
}

// Of a line that is exact, the parts that could be read are known to rules that
// forbid; where a part may be anything, that is said.
func TestJudgeParts(t *testing.T) {
	t.Parallel()
	tests := []struct {
		line    string
		parts   []string
		unknown bool
	}{
		{"git status", nil, false},
		{"git commit -m push", nil, false},
		{"/usr/bin/git push origin", []string{"git push origin"}, false},
		{"git -C . push", []string{"git . push", "git push"}, false},
		{"$HOME/git push", []string{"$HOME/git push"}, true},
		{"A=1 rm x > y", []string{"rm x"}, false},
		{"if ls; then rm x; fi", []string{"ls", "rm x"}, false},
		{"f() { rm x; }; f", []string{"rm x", "f"}, false},
		{"echo $(rm x)", []string{"rm x", "echo $(rm x)"}, false},
		{"export A=$(rm x) B", []string{"rm x", "export A=$(rm x) B"}, false},
		{"let x=1", []string{"let let x=1"}, false},
		{"time -p rm x", []string{"rm x", "'time' -p rm x", "'time' rm x"}, false},
		{"eval rm 'x y'", []string{"eval rm 'x y'", "rm x y"}, false},
		{"trap 'rm x' EXIT", []string{"trap 'rm x' EXIT", "rm x"}, false},
		{"eval -- rm x", []string{"eval -- rm x", "rm x", "eval rm x", "eval x"}, false},
		{"eval", []string{"eval"}, false},
		{"eval -- ''", []string{"eval -- ''", "eval ''"}, false},
		{"trap -- 'rm x' EXIT", []string{"trap -- 'rm x' EXIT", "rm x", "trap 'rm x' EXIT", "trap EXIT"}, false},
		{"trap - EXIT", []string{"trap - EXIT", "trap EXIT"}, false},
		{"trap '' EXIT", []string{"trap '' EXIT"}, false},
		{"trap ls", []string{"trap ls"}, false},
		{"trap", []string{"trap"}, false},
		{"trap 'rm x' $y", []string{"trap 'rm x' $y", "rm x"}, false},
		{"trap 'rm x' ''", []string{"trap 'rm x' ''", "rm x"}, false},
		{"trap 'rm x' -1", []string{"trap 'rm x' -1", "rm x"}, false},
		{"eval --", []string{"eval --"}, false},
		{"export -p", []string{"export -p"}, false},
		{"eval nohup nohup nohup nohup nohup ls", []string{
			"eval nohup nohup nohup nohup nohup ls", "nohup nohup nohup nohup nohup ls", "nohup nohup nohup nohup ls", "nohup nohup nohup ls", "nohup nohup ls", "nohup ls",
		}, true},
		{"let x=$(rm x)", []string{"let let x=$(rm x)", "rm x"}, false},
		{"trap $x EXIT", []string{"trap $x EXIT"}, true},
		{"time", []string{"'time'"}, false},
		{"a=1 z=1 A=1 Z=1 _=1 a0=1 a9=1 rm x", []string{"rm x"}, false},
		{"curl x | { sh | cat; }", []string{"curl x", "sh", "cat"}, true},
		{"find . -exec ls", []string{"find . -exec ls"}, true},
		{"set -e; ls", []string{"set -e", "ls"}, false},
		{"eval $x", []string{"eval $x"}, true},
		{"$x y", []string{"$x y"}, true},
		{"sudo -s", []string{"sudo -s"}, true},
		{"alias ls=rm", []string{"alias ls=rm"}, true},
		{"hash -p x git", []string{"hash -p x git", "hash x git", "hash git"}, true},
		{"coproc ls", []string{"ls"}, true},
	}
	for _, tt := range tests {
		t.Run(tt.line, func(t *testing.T) {
			t.Parallel()
			got := shell.Judge(tt.line)
			if diff := cmp.Diff(tt.parts, got.Parts, cmpopts.EquateEmpty()); diff != "" || got.Unknown != tt.unknown {
				t.Errorf("unknown %v, parts (-want +got):\n%s", got.Unknown, diff)
			}
		})
	}
}

// A line that changes files that programs obey is asked about, names the file,
// and is allowed again only by an answer with its own words.
func TestJudgeObeyed(t *testing.T) {
	t.Parallel()
	for line, file := range map[string]string{
		"tee .git/hooks/pre-commit": ".git/hooks/pre-commit", "cat x | tee a .envrc": ".envrc", "echo x > Makefile": "Makefile", "echo x >> package.json": "package.json", "echo x >| .GIT/config": ".GIT/config",
		"cp x a/../.git/config": "a/../.git/config", "cp package.json pkg/": "package.json", "mv x .vscode/tasks.json": ".vscode/tasks.json", "ln -s .git x": ".git", "install -m 755 x .git/hooks/": ".git/hooks/", "rsync x .github/workflows/": ".github/workflows/",
		"sed -i s/a/b/ CMakeLists.txt": "CMakeLists.txt", "perl -pi -e s/a/b/ setup.py": "setup.py", "dd if=x of=.bashrc": "of=.bashrc", "cp --target-directory=.ssh x": "--target-directory=.ssh", "touch conftest.py": "conftest.py", "chmod +x .git/hooks/x": ".git/hooks/x", "rm .gitlab-ci.yml": ".gitlab-ci.yml",
		"curl -o CLAUDE.md https://example.org": "CLAUDE.md", "cp x .g*/config": ".g*/config", "cp x \".git\"/$y": "\".git\"/$y", "cp x .gi{t,t}/config": ".gi{t,t}/config", "cp x $HOME/.bashrc": "$HOME/.bashrc", "cp x ${HOME}/.ssh/${y}": "${HOME}/.ssh/${y}", "cd .git; ls": ".git", "sudo cp x Dockerfile": "Dockerfile", "sh -c 'echo x > .npmrc'": ".npmrc",
		"if x; then cp a Jenkinsfile; fi": "Jenkinsfile", "git config core.x y": ".git/config", "git -C x config --add a.b c": ".git/config", "git remote add x y": ".git/config", "git submodule update": ".git/config", "git clone --template=x y": ".git/config", "git config set a.b c": ".git/config",
		"cp x /etc/cron.d/y": "/etc/cron.d/y", "cp x $@/Makefile": "$@/Makefile", "cp x $1/Makefile": "$1/Makefile", "cp x $HOME1/Makefile": "$HOME1/Makefile", "cp x .git``/config": ".git``/config", "cp x .git{}/config": ".git{}/config", "cp x .g$AB/config": ".g$AB/config", "cp x .g[i]t/config": ".g[i]t/config", "cp x .g?t/config": ".g?t/config",
		"cp x .gi\\t/*": ".gi\\t/*", "find . -exec cp x {}/.git/config ';'": "{}/.git/config", "pushd .git": ".git", "cd .git/hooks": ".git/hooks", "git config -e": ".git/config", "git remote set-url x y": ".git/config", "git remote rename x y": ".git/config", "git submodule add x": ".git/config",
		"git clone -c a.b=c x": ".git/config", "git init --template=x": ".git/config", "cp x --target=/usr/bin": "--target=/usr/bin",
	} {
		got := shell.Judge(line)
		if !strings.Contains(got.Risk, "programs run or obey: "+file+" (") || !got.Exact || !got.Floor() {
			t.Errorf("%s: %+v", line, got)
		}
	}
	for _, line := range []string{
		"cat Makefile", "make", "git status", "git config --list", "git config user.name", "git config --get a.b", "git config get a.b", "git remote -v", "git clone x", "git init", "sed -n 1p package.json", "grep x .github/workflows/ci.yml", "cp a b", "echo x > notes.md", "cd src", "cp *.go out/", "rm -r build",
		"cp x $@aMakefile", "git remote", "git remote show x", "git submodule status", "git config --get-all a.b", "git config --get a.b x", "git config --get-all a.b x", "git config --get-regexp a b", "git config --list a b", "git config --get-regexp a", "git config list", "git --version", "perl -e 1 Makefile", "cp x --option=", "cd", "git", "git config",
	} {
		if got := shell.Judge(line); strings.Contains(got.Risk, "obey") {
			t.Errorf("%s: %s", line, got.Risk)
		}
	}
}

func TestJudgePreview(t *testing.T) {
	t.Parallel()
	tests := []struct{ line, want string }{
		{"echo a\n\techo b", "echo a\n\techo b"},
		{"ls \x1b[2K\r# ok", `ls \x1b[2K\x0d# ok`},
		{"rm \u202etxt.x\u2066", `rm \u202etxt.x\u2066`},
		{"ls\u00a0-l \u200b\ufeff\U000e0041", `ls\u00a0-l \u200b\ufeff\U000e0041`},
		{"echo ünï 😀", "echo ünï 😀"},
	}
	sh := shell.New(&stub{}, at("/w"), shell.Network{}, nil)
	for _, tt := range tests {
		raw, err := json.Marshal(map[string]string{"command": tt.line})
		if err != nil {
			t.Fatal(err)
		}
		if got := sh.Judge(raw).Preview; got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.line, got, tt.want)
		}
	}
}

// TestJudgeCall: where a command runs, and for how long, is part of the question.
func TestJudgeCall(t *testing.T) {
	t.Parallel()
	sh := shell.New(&stub{}, at("/w"), shell.Network{}, nil)
	if sh.Domain != chela.DomainWorker {
		t.Errorf("the tool is of %q", sh.Domain)
	}
	for _, c := range []struct {
		args, preview, risk string
		exact               bool
	}{
		{`{"command":"ls"}`, "ls", "", false},
		{`{"command":"ls","workdir":"src"}`, "ls\n[in src]", "", false},
		{`{"command":"ls","timeout":5}`, "ls\n[for at most 5 seconds]", "", false},
		{`{"command":"ls","workdir":".git","timeout":5}`, "ls\n[in .git]\n[for at most 5 seconds]", "it works among files that programs run or obey: .git (version control)", true},
		{`{"command":"sudo ls","workdir":".git"}`, "sudo ls\n[in .git]", "it runs as another user; it works among files that programs run or obey: .git (version control)", true},
	} {
		got := sh.Judge(json.RawMessage(c.args))
		if got.Preview != c.preview || got.Risk != c.risk || got.Exact != c.exact {
			t.Errorf("%s: exact %v, preview %q, risk %q", c.args, got.Exact, got.Preview, got.Risk)
		}
	}
}

func FuzzJudge(f *testing.F) {
	for _, line := range []string{
		"git status", "sudo -u x env -i sh -c 'rm -rf /'", "cat <<E\n$(x)\nE", "a | b && c &", "find . -exec x {} +", "f(){ f|f& };f", "echo \"${x:-$(y)}\" >a", "xargs -I{} sh -c 'x {}'", "\x1b\u202e",
	} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		got := shell.Judge(line)
		if again := shell.Judge(line); !reflect.DeepEqual(got, again) {
			t.Errorf("%q: %+v, then %+v", line, got, again)
		}
		if len(got.Subjects) == 0 && !got.Opaque() || got.Effect != chela.EffectExecute {
			t.Errorf("%q: %+v", line, got)
		}
		for _, text := range append(got.Subjects, excerpt.Visible(got.Preview), got.Risk) {
			if !utf8.ValidString(text) || strings.ContainsAny(text, "\x1b\r\x00\u202e\u2066") {
				t.Errorf("%q: %q hides something", line, text)
			}
		}
		if got.Exact {
			return
		}
		// A canonical line means the same: judged again, it gives itself.
		for _, subject := range got.Subjects {
			again := shell.Judge(subject)
			if strings.Contains(subject, "{}") || strings.Contains(subject, "$'") {
				continue // a word that is not known, or is known only once decoded
			}
			if again.Exact || again.Subjects[0] != subject {
				t.Errorf("%q: subject %q is read as %q, exact %v", line, subject, again.Subjects, again.Exact)
			}
		}
	})
}
