package sandbox_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/tool/sandbox"
)

func TestWorkdir(t *testing.T) {
	t.Parallel()
	workspace := t.TempDir()
	if err := os.MkdirAll(filepath.Join(workspace, "a", "b"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(workspace, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{"in": "a/b", "out": "/etc", "up": "../.."} {
		if err := os.Symlink(target, filepath.Join(workspace, name)); err != nil {
			t.Fatal(err)
		}
	}
	tests := []struct {
		workdir string
		want    string
		kind    chela.Kind
	}{
		{"", ".", ""},
		{".", ".", ""},
		{"/workspace", ".", ""},
		{"/workspace/", ".", ""},
		{"/workspace/a/b", "a/b", ""},
		{"a/../a/b/", "a/b", ""},
		{"in", "in", ""},
		{"/workspaces", "", chela.Denied},
		{"/workspace/../etc", "", chela.Denied},
		{"/etc", "", chela.Denied},
		{"/", "", chela.Denied},
		{"..", "", chela.Denied},
		{"a/../../x", "", chela.Denied},
		{"out", "", chela.Denied},
		{"up", "", chela.Denied},
		{"none", "", chela.NotFound},
		{"file", "", chela.Invalid},
		{"a\x00b", "", chela.Denied},
	}
	for _, tt := range tests {
		got, err := sandbox.Workdir(workspace, tt.workdir)
		if got != tt.want || chela.KindOf(err) != tt.kind {
			t.Errorf("Workdir(%q) = %q, %v; want %q, %s", tt.workdir, got, err, tt.want, tt.kind)
		}
	}
}

func TestEnviron(t *testing.T) {
	t.Parallel()
	got, err := sandbox.Environ(sandbox.Tools{
		Path: []string{"/opt/x/bin", "/usr/bin"}, Last: []string{sandbox.InHome + "/bin"}, Env: map[string]string{"LANG": "C", "GOPROXY": "off"},
	}, map[string]string{"LANG": "de_DE.UTF-8", "A": "b c"})
	want := []string{
		"A=b c", "GIT_CONFIG_NOSYSTEM=1", "GOPROXY=off", "LANG=de_DE.UTF-8", "LOGNAME=chela", "PATH=/opt/x/bin:/usr/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/sbin:/bin:${HOME}/bin", "TERM=dumb", "USER=chela",
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	for _, name := range []string{"LD_PRELOAD", "LD_AUDIT", "BASH_ENV", "BASH_FUNC_ls%%", "ENV", "PS4", "IFS", "HOME", "GIT_SSH_COMMAND", "", "A=B"} {
		if _, err := sandbox.Environ(sandbox.Tools{}, map[string]string{name: "x"}); chela.KindOf(err) != chela.Denied {
			t.Errorf("variable %q: %v, want denied", name, err)
		}
	}
}

// pieces writes text in pieces of n bytes and returns what was handed on and
// what was kept.
func pieces(text, host string, n int) (streamed, kept string, dropped int64) {
	var b strings.Builder
	o := sandbox.NewOutput(host, func(s string) { b.WriteString(s) })
	for rest := []byte(text); len(rest) > 0; rest = rest[min(n, len(rest)):] {
		_, _ = o.Write(rest[:min(n, len(rest))])
	}
	_ = o.Close()
	kept, dropped = o.Text()
	return b.String(), kept, dropped
}

func TestOutput(t *testing.T) {
	t.Parallel()
	const host = "/home/ann/.chela/workspace/main"
	tests := []struct{ name, text, want string }{
		{"plain", "hello\n", "hello\n"},
		{"path", "in " + host + "/a and " + host, "in /workspace/a and /workspace"},
		{"almost a path", host[:20] + "/x " + host[:len(host)-1], host[:20] + "/x " + host[:len(host)-1]},
		{"path begun twice", "/home/ann/home/ann/.chela/workspace/main!", "/home/ann/workspace!"},
		{"characters", "ünï€😀", "ünï€😀"},
		{"not UTF-8", "a\xffb\xe2\x82c\xe2\x82", "a\uFFFDb\uFFFD\uFFFDc\uFFFD\uFFFD"},
		{"NUL", "a\x00b", "a\uFFFDb"},
		{"nothing", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for n := 1; n <= len(tt.text)+1; n++ {
				streamed, kept, dropped := pieces(tt.text, host, n)
				if streamed != tt.want || kept != tt.want || dropped != 0 {
					t.Errorf("pieces of %d: streamed %q, kept %q, dropped %d; want %q", n, streamed, kept, dropped, tt.want)
				}
			}
		})
	}
}

func TestOutputKeepsBothEnds(t *testing.T) {
	t.Parallel()
	for _, size := range []int{sandbox.MaxOutput - 10, sandbox.MaxOutput + 10, 5*sandbox.MaxOutput + 1} {
		text := "begin" + strings.Repeat("€", size/3) + "end"
		_, kept, dropped := pieces(text, "", 32_768)
		wantDropped := len(text) > sandbox.MaxOutput
		if (dropped > 0) != wantDropped || !utf8.ValidString(kept) || len(kept) > sandbox.MaxOutput+100 {
			t.Errorf("%d bytes: %d kept, %d dropped", len(text), len(kept), dropped)
		}
		if !strings.HasPrefix(kept, "begin") || !strings.HasSuffix(kept, "end") {
			t.Errorf("%d bytes: an end is missing", len(text))
		}
		if !wantDropped && kept != text {
			t.Errorf("%d bytes: changed without need", len(text))
		}
	}
}

func FuzzOutput(f *testing.F) {
	f.Add("in /w/s/x", "/w/s", 3)
	f.Add("a\xffb\xe2\x82", "\xe2", 1)
	f.Fuzz(func(t *testing.T, text, host string, n int) {
		if n <= 0 || len(host) > 64 || !strings.HasPrefix(host, "/") || !utf8.ValidString(host) || strings.Contains(sandbox.Root, host) {
			t.Skip("no such path")
		}
		streamed, kept, _ := pieces(text, host, n)
		whole, _, _ := pieces(text, host, len(text)+1)
		if streamed != whole || kept != whole || !utf8.ValidString(streamed) {
			t.Errorf("pieces of %d: streamed %q, kept %q; at once %q", n, streamed, kept, whole)
		}
	})
}
