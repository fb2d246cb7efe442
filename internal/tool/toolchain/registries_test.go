package toolchain_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"chela/internal/safety/egress"
	"chela/internal/tool/toolchain"
)

// The settings of package managers reach commands without a credential in them.
func TestRegistries(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	u.env["GOPROXY"] = "https://me:hunter2@go.example:8443/mod,direct"
	u.env["PIP_EXTRA_INDEX_URL"] = "https://a.example/simple https://token@b.example/simple"
	u.env["SSL_CERT_FILE"], u.env["NODE_EXTRA_CA_CERTS"] = "/etc/ssl/certs/ca-certificates.crt", filepath.Join(u.home, "private.pem")
	u.env["NPM_TOKEN"], u.env["CARGO_REGISTRY_TOKEN"] = "hunter2", "hunter2"
	u.files(
		".config/go/env: GOPROXY=https://ignored.example\nGONOSUMDB=corp.example/*\nGOFLAGS=-mod=mod\n",
		".npmrc: registry=https://npm.example/repo/\n@corp:registry=https://x:hunter2@scope.example/\n//npm.example/:_authToken=hunter2\n",
		".config/pip/pip.conf: [global]\nindex-url = https://user:hunter2@pip.example/simple\n[other]\nindex-url = https://other.example\n",
		".cargo/config.toml: [source.crates-io]\nreplace-with = \"corp\"\n[source.corp]\nregistry = \"sparse+https://crates.example/index/\"\n[registries.corp]\nindex = \"https://crates.example/git\"\ntoken = \"hunter2\"\n[build]\nrustc-wrapper = \"/evil\"\n[source.\"bad name]\"]\nregistry=\"x\"\n",
		".gitconfig: [user]\n\tname = Eva Example\n\temail = eva@example.org # work\n\tsigningkey = hunter2\n[credential]\n\thelper = /evil\n[core]\n\tpager = /evil\n",
		".m2/settings.xml: <settings><servers><server><id>m</id><password>hunter2</password></server></servers><mirrors><mirror><id>m</id><url>https://maven.example/repo</url><mirrorOf>central</mirrorOf></mirror></mirrors></settings>",
	)
	r := toolchain.New(u.cfg, time.Now).Registries()
	wantEnv := map[string]string{
		"GOPROXY": "https://go.example:8443/mod,direct", "GONOSUMDB": "corp.example/*",
		"PIP_EXTRA_INDEX_URL": "https://a.example/simple https://b.example/simple", "PIP_INDEX_URL": "https://pip.example/simple",
		"npm_config_registry": "https://npm.example/repo/", "SSL_CERT_FILE": "/etc/ssl/certs/ca-certificates.crt",
	}
	if diff := cmp.Diff(wantEnv, r.Env); diff != "" {
		t.Errorf("variables (-want +got):\n%s", diff)
	}
	wantFiles := map[string]string{
		".gitconfig":         "[user]\n\tname = \"Eva Example\"\n\temail = \"eva@example.org\"\n",
		".npmrc":             "@corp:registry=https://scope.example/\n",
		".cargo/config.toml": "[source.crates-io]\nreplace-with = \"corp\"\n[source.corp]\nregistry = \"sparse+https://crates.example/index/\"\n[registries.corp]\nindex = \"https://crates.example/git\"\n",
		".m2/settings.xml":   "<settings>\n  <mirrors>\n    <mirror>\n      <id>m</id>\n      <url>https://maven.example/repo</url>\n      <mirrorOf>central</mirrorOf>\n    </mirror>\n  </mirrors>\n</settings>\n",
	}
	if diff := cmp.Diff(wantFiles, r.Files); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	wantMirrors := map[string][]string{
		egress.GoModules: {"go.example:8443"}, egress.NPM: {"npm.example", "scope.example"},
		egress.PyPI: {"a.example", "b.example", "pip.example"}, egress.Crates: {"crates.example"}, egress.Maven: {"maven.example"},
	}
	if diff := cmp.Diff(wantMirrors, r.Mirrors); diff != "" {
		t.Errorf("mirrors (-want +got):\n%s", diff)
	}
}

// Files that programs obey at their start end with the command that wrote them, and
// caches stay, however a command hides them.
func TestPrepareHome(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	u.files(".npmrc: @corp:registry=https://scope.example/\n", "outside/kept")
	tools := toolchain.New(u.cfg, time.Now)
	home := filepath.Join(u.home, "caches")
	if err := tools.PrepareHome(home); err != nil {
		t.Fatal(err)
	}
	if at, err := os.Stat(home); err != nil || at.Mode().Perm() != 0o700 {
		t.Fatalf("%v, %v", at, err)
	}
	u.files(
		"caches/.bashrc", "caches/.gitconfig", "caches/.config/git/config", "caches/.cargo/config.toml", "caches/.cargo/registry/index/x",
		"caches/.cache/go-build/00/x", "caches/.npmrc: script-shell=/evil\n", "caches/.gradle/init.d/x.gradle", "caches/.gradle/caches/x",
		"caches/.local/lib/python3.12/site-packages/sitecustomize.py", "caches/.local/lib/python3.12/site-packages/six.py", "caches/real/settings.xml",
	)
	u.link("outside", "caches/.vim")
	u.link("outside", "caches/.bundle")
	u.link("caches/real", "caches/.m2")
	if err := tools.PrepareHome(home); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	err := filepath.Walk(u.home, func(path string, at os.FileInfo, err error) error {
		if err == nil && !at.IsDir() {
			text, _ := os.ReadFile(path) // a link to a folder has none
			got[strings.TrimPrefix(path, u.home+"/")] = string(text)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	delete(got, ".npmrc")
	want := map[string]string{
		"caches/.cargo/registry/index/x": "", "caches/.cache/go-build/00/x": "", "caches/.gradle/caches/x": "", "outside/kept": "",
		"caches/.npmrc": "@corp:registry=https://scope.example/\n", "caches/.local/lib/python3.12/site-packages/six.py": "", "caches/real/settings.xml": "",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

// A folder that cannot be removed is set aside.
func TestPrepareHomeOfUnreadable(t *testing.T) {
	t.Parallel()
	if os.Getuid() == 0 {
		t.Skip("user 0 can remove everything")
	}
	u := newUser(t)
	u.files("caches/.config/sub/x")
	if err := os.Chmod(filepath.Join(u.home, "caches/.config/sub"), 0); err != nil {
		t.Fatal(err)
	}
	if err := toolchain.New(u.cfg, time.Now).PrepareHome(filepath.Join(u.home, "caches")); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(filepath.Join(u.home, "caches/.config")); err == nil {
		t.Error(".config is still there")
	}
	if err := os.Chmod(filepath.Join(u.home, "caches/.config.removed-1/sub"), 0o700); err != nil {
		t.Error(err)
	}
}
