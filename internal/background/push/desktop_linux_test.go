package push_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/background/push"
)

// TestDesktop shows a message with notify-send, which gets no markup, option or escape
// sequence from the texts. Without the program or a session the error names the reason.
func TestDesktop(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir+":/usr/bin:/bin")
	variables := map[string]string{}
	d := push.Desktop{Variable: func(name string) string { return variables[name] }, Environ: []string{"PATH=/usr/bin:/bin", "OUT=" + filepath.Join(dir, "out")}}
	program := filepath.Join(dir, "notify-send")
	write := func(text string) {
		if err := os.WriteFile(program, []byte("#!/bin/sh\n"+text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write(`for a; do echo "[$a]"; done > "$OUT"`)
	if err := d.Send(t.Context(), question); chela.KindOf(err) != chela.Unsupported || !strings.Contains(err.Error(), "no graphical session") {
		t.Errorf("without a session: %v", err)
	}
	variables["DISPLAY"] = ":0"
	m := question
	m.Title = "--help\x1b[2J"
	m.Text = "first\nsecond <a href='x'>&\u200b"
	if err := d.Send(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(dir, "out"))
	if err != nil {
		t.Fatal(err)
	}
	want := "[--app-name=chela]\n[--urgency=critical]\n[--]\n[--help[2J]\n[first\nsecond &lt;a href='x'&gt;&amp;]\n"
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("notify-send was given (-want +got):\n%s", diff)
	}
	write("echo 'no \x1bdaemon' >&2; exit 1")
	if err := d.Send(t.Context(), m); chela.KindOf(err) != chela.Unavailable || chela.MessageOf(err) != "notify-send failed: no daemon" {
		t.Errorf("a program that fails: %v", err)
	}
	t.Setenv("PATH", dir+"/empty")
	if err := d.Missing(); err == nil || !strings.Contains(err.Error(), "notify-send is not installed") {
		t.Errorf("without the program: %v", err)
	}
}
