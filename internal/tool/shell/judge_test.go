package shell_test

import (
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/tool/shell"
)

// Lines that are taken apart: one canonical subject for each command, wrapped
// ones included.
func TestJudgeSubjects(t *testing.T) {
	t.Parallel()
	tests := []struct {
		line string
		want []string
	}{
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
	}
	for _, tt := range tests {
		t.Run(tt.line, func(t *testing.T) {
			t.Parallel()
			got := shell.Judge(tt.line)
			if diff := cmp.Diff(tt.want, got.Subjects); diff != "" || got.Exact {
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
		"xargs -a list rm -- --x=$y $z(", "timeout --k=1 1 ls", "nice --adj=1 ls", "exec -z ls", "find . -exec ls {} ; -exec rm {} ;",
		"find . -fprint x", "find *", "sh -c \"$x\"", "sh -c", "sh", "bash -s", "bash -i", "bash -lc ls", "bash --rcfile x", "bash -O extglob -c ls", "bash -c -- ls", "sh -c '$0' rm",
		"echo 'a\x1bb'", "echo \u202ex", "sh -c ''", "", "  ", "# nothing", "'", "a\x00b", "\xff", strings.Repeat("(", 70_000), strings.Repeat("sudo ", 10) + "ls",
	}
	for _, line := range lines {
		got := shell.Judge(line)
		if !got.Exact || len(got.Subjects) != 1 {
			t.Errorf("%.60q: exact %v, subjects %.200q", line, got.Exact, got.Subjects)
		}
	}
}

func TestJudgeExactSubjectsDiffer(t *testing.T) {
	t.Parallel()
	lines := []string{"echo $(a)\x1b", `echo $(a)\x1b`, `quoted: "echo $(a)\x1b"`, "echo $(a)", "echo  $(a)", "echo $(a) "}
	seen := map[string]string{}
	for _, line := range lines {
		subject := shell.Judge(line).Subjects[0]
		if other, ok := seen[subject]; ok {
			t.Errorf("%q and %q have the same subject %q", other, line, subject)
		}
		seen[subject] = line
	}
}

func TestJudgePreview(t *testing.T) {
	t.Parallel()
	tests := []struct{ line, want string }{
		{"echo a\n\techo b", "echo a\n\techo b"},
		{"ls \x1b[2K\r# ok", `ls \x1b[2K\x0d# ok`},
		{"rm \u202etxt.x\u2066", `rm \u202etxt.x\u2066`},
		{"ls\u00a0-l \u200b\ufeff\U000e0041", `ls\xa0-l \u200b\ufeff\U000e0041`},
		{"echo ünï 😀", "echo ünï 😀"},
	}
	for _, tt := range tests {
		if got := shell.Judge(tt.line).Preview; got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.line, got, tt.want)
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
		if len(got.Subjects) == 0 || got.Effect != chela.EffectExecute {
			t.Errorf("%q: %+v", line, got)
		}
		for _, text := range append(got.Subjects, got.Preview, got.Risk) {
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
