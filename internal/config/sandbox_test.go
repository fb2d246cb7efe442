package config_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"chela"
	"chela/internal/config"
)

func TestSandboxPaths(t *testing.T) {
	t.Parallel()
	tests := []struct{ text, want string }{
		{`read = ["data"]`, `sandbox.read cannot be that; write a list of absolute paths, such as "/opt/tools" or "~/data"`},
		{`path = ["/a:/b"]`, `sandbox.path cannot be that; write a list of absolute paths, such as "/opt/tools" or "~/data"`},
		{`read = ["~"]`, "sandbox.read: ~ contains the home of chela; name a folder that holds only what commands need"},
		{`read = ["/"]`, "sandbox.read: / is the whole machine; name a folder that holds only what commands need"},
		{`write = ["~/.chela/workspace"]`, "sandbox.write: ~/.chela/workspace lies in the home of chela; name a folder that holds only what commands need"},
		{`read = ["/home/me/.aws"]`, "sandbox.read: /home/me/.aws holds credentials (.aws); name a folder that holds only what commands need"},
		{`path = ["~/.cargo"]`, "sandbox.path: ~/.cargo contains credentials (/home/me/.cargo/credentials); name a folder that holds only what commands need"},
		{`read = ["/opt/../etc"]`, "sandbox.read: /opt/../etc contains credentials (/etc/shadow); name a folder that holds only what commands need"},
		{`read = ["/opt/none", "~/data"]`, ""},
		{"[sandbox.env]\nCGO_ENABLED = \"0\"\nMY_FLAGS = \"a b\"", ""},
		{"[sandbox.env]\nPATH = \"/x\"", "sandbox.env.PATH: PATH is set by the sandbox; add folders of programs to sandbox.path"},
		{"[sandbox.env]\nHOME = \"/x\"", "sandbox.env.HOME: HOME is set by the sandbox; leave it out"},
		{"[sandbox.env]\nGITHUB_TOKEN = \"x\"", "sandbox.env.GITHUB_TOKEN: GITHUB_TOKEN looks like a credential, which every command could read; keep it in the vault (chela secrets set) and let commands ask for it"},
		{"[sandbox.env]\nX = \"env:GITHUB_TOKEN\"", "sandbox.env.X: X looks like a credential, which every command could read; keep it in the vault (chela secrets set) and let commands ask for it"},
		{"[sandbox.env]\nX = \"https://me:hunter2@r.example/\"", "sandbox.env.X: X looks like a credential, which every command could read; keep it in the vault (chela secrets set) and let commands ask for it"},
		{"[sandbox.env]\n\"A B\" = \"x\"", "sandbox.env.\"A B\": \"A B\" is not the name of a variable; use letters, digits and _"},
	}
	for _, tt := range tests {
		text := tt.text
		if !strings.HasPrefix(text, "[") {
			text = "[sandbox]\n" + text
		}
		_, err := config.Load(config.Input{
			Environ: []string{"HOME=/home/me"}, ReadFile: func(string) ([]byte, error) { return []byte(text), nil },
		})
		got := ""
		if err != nil {
			got = chela.MessageOf(err)
			if i := strings.Index(got, "sandbox."); i >= 0 {
				got = got[i:]
			}
		}
		if got != tt.want {
			t.Errorf("%s:\ngot  %s\nwant %s", tt.text, got, tt.want)
		}
	}
}

// Words of earlier versions mean those of this one.
func TestNetworkWords(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{"none": "off", "off": "off", "listed": "listed", "ask": "ask", "allow": "allow"} {
		c, err := config.Load(config.Input{ReadFile: func(string) ([]byte, error) { return nil, fs.ErrNotExist }, Environ: []string{"HOME=/home/me", "CHELA_SANDBOX_NETWORK=" + given}})
		if err != nil || string(c.Sandbox.Network) != want {
			t.Errorf("%s is %v, want %s: %v", given, c, want, err)
		}
	}
}

// A path is looked for when it is set, and not when the settings are read: a disk may
// be missing for a while.
func TestSetSandbox(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	home := config.Home(filepath.Join(dir, "home"))
	data := filepath.Join(dir, "data")
	err := config.Set(home, "sandbox.read", data)
	if chela.KindOf(err) != chela.Invalid || !strings.Contains(chela.MessageOf(err), "sandbox.read: "+data+" does not exist; create it first, or correct the path") {
		t.Errorf("a missing folder: %v", err)
	}
	if err := os.MkdirAll(data, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := config.Set(home, "sandbox.read", string(home)); chela.KindOf(err) != chela.Invalid || !strings.Contains(chela.MessageOf(err), "lies in the home of chela") {
		t.Errorf("the home: %v", err)
	}
	for key, value := range map[string]string{"sandbox.read": data, "sandbox.env.CGO_ENABLED": "0", "sandbox.network": "none"} {
		if err := config.Set(home, key, value); err != nil {
			t.Errorf("%s: %v", key, err)
		}
	}
	if err := os.Remove(data); err != nil {
		t.Fatal(err)
	}
	c, err := config.Load(config.Input{Home: string(home)})
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{"sandbox.read": `["` + data + `"]`, "sandbox.env.CGO_ENABLED": "0", "sandbox.network": "off"} {
		if v, err := c.Value(key); err != nil || v.Value != want {
			t.Errorf("%s is %+v, want %s: %v", key, v, want, err)
		}
	}
}
