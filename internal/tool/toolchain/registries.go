package toolchain

import (
	"bufio"
	"bytes"
	"encoding/xml"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"chela/internal/platform/lazyregexp"
	"chela/internal/safety/egress"
)

// Registries are the settings by which package managers find their registries or the
// mirrors of them, without credentials. They come from chela's environment and the
// user's files, which no command sees.
type Registries struct {
	Env     map[string]string   // variables of commands
	Files   map[string]string   // files of the home of commands, by their path in it
	Mirrors map[string][]string // hosts with their ports, by the group of [egress] that they stand for
}

// registryVariables are the variables that are passed on, by the group of the hosts
// that their values name.
var registryVariables = map[string]string{
	egress.GoModules: "GOPROXY GOSUMDB GONOSUMDB GONOPROXY GOPRIVATE GOINSECURE",
	egress.NPM:       "npm_config_registry NPM_CONFIG_REGISTRY YARN_NPM_REGISTRY_SERVER COREPACK_NPM_REGISTRY BUN_CONFIG_REGISTRY",
	egress.PyPI:      "PIP_INDEX_URL PIP_EXTRA_INDEX_URL PIP_TRUSTED_HOST PIP_NO_INDEX UV_INDEX_URL UV_EXTRA_INDEX_URL UV_DEFAULT_INDEX UV_INDEX",
	egress.Crates:    "CARGO_REGISTRIES_CRATES_IO_INDEX CARGO_REGISTRIES_CRATES_IO_PROTOCOL CARGO_REGISTRY_DEFAULT RUSTUP_DIST_SERVER RUSTUP_UPDATE_ROOT",
	egress.RubyGems:  "RUBYGEMS_HOST",
}

// certificateVariables name files and folders of certificates that programs trust.
var certificateVariables = strings.Fields(`
	SSL_CERT_FILE SSL_CERT_DIR NODE_EXTRA_CA_CERTS PIP_CERT REQUESTS_CA_BUNDLE CURL_CA_BUNDLE GIT_SSL_CAINFO CARGO_HTTP_CAINFO
`)

// registriesOf collects the settings of package managers.
func registriesOf(cfg Config) Registries {
	r := reader{cfg: cfg, Registries: Registries{Env: map[string]string{}, Files: map[string]string{}, Mirrors: map[string][]string{}}}
	for group, names := range registryVariables {
		for _, name := range strings.Fields(names) {
			r.set(group, name, cfg.Variable(name))
		}
	}
	r.goEnv()
	r.npmrc()
	r.pip()
	r.cargo()
	r.maven()
	r.git()
	for _, name := range certificateVariables {
		if path := cfg.Variable(name); filepath.IsAbs(path) && (isSystem(path) || slices.ContainsFunc(publicCertificates, func(dir string) bool { return strings.HasPrefix(filepath.Clean(path)+"/", dir+"/") })) {
			r.Env[name] = path
		}
	}
	return r.Registries
}

// publicCertificates are where systems keep certificates; every command sees them.
var publicCertificates = strings.Fields("/etc/ssl/certs /etc/pki/tls/certs /etc/pki/ca-trust /etc/ca-certificates")

// A reader collects Registries.
type reader struct {
	cfg Config
	Registries
}

// set passes a variable on that has no value yet, without credentials, and notes the
// hosts in it.
func (r *reader) set(group, name, value string) {
	if value == "" || r.Env[name] != "" {
		return
	}
	r.Env[name] = r.note(group, value)
}

var inText = lazyregexp.New(`https?://[^\s,|"'<>]+`)

// note returns a text with the credentials of its URLs removed, and notes their hosts.
func (r *reader) note(group, text string) string {
	return inText().ReplaceAllStringFunc(text, func(found string) string {
		u, err := url.Parse(found)
		if err != nil {
			return ""
		}
		u.User = nil
		host := u.Hostname()
		if port := u.Port(); port != "" && port != "443" && port != "80" {
			host = net.JoinHostPort(host, port)
		}
		if host != "" && !slices.Contains(r.Mirrors[group], host) {
			r.Mirrors[group] = append(r.Mirrors[group], host)
		}
		return u.String()
	})
}

// git names the user as the author of commits, as git does outside: a repository may
// name another one. Nothing else of the user's configuration is passed on, as git runs
// programs that it names.
func (r *reader) git() {
	author := map[string]string{}
	for _, name := range []string{".config/git/config", ".gitconfig"} { // the later one wins, as in git
		pairs(r.home(name), func(section, key, value string) {
			if at := strings.IndexAny(value, "#;"); at >= 0 { // a comment
				value = strings.Trim(value[:at], " \t\"")
			}
			if key = strings.ToLower(key); strings.EqualFold(section, "user") && (key == "name" || key == "email") && !strings.ContainsAny(value, "\"\\") {
				author[key] = value
			}
		})
	}
	if author["name"] != "" && author["email"] != "" {
		r.Files[".gitconfig"] = fmt.Sprintf("[user]\n\tname = \"%s\"\n\temail = \"%s\"\n", author["name"], author["email"])
	}
}

// maxSettings limits a file of settings that is read.
const maxSettings = 1 << 20

// file returns a file of settings; nothing if it cannot be read.
func (r *reader) file(path string) []byte {
	at, err := os.Stat(path)
	if err != nil || at.Size() > maxSettings || !at.Mode().IsRegular() {
		return nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil // as if there were none: commands work without it
	}
	return text
}

// home returns the first file of the user's home that exists.
func (r *reader) home(names ...string) []byte {
	for _, name := range names {
		if text := r.file(filepath.Join(r.cfg.UserHome, name)); r.cfg.UserHome != "" && text != nil {
			return text
		}
	}
	return nil
}

// pairs calls each with the settings of a file of lines such as "key = value", and the
// section that they are in.
func pairs(text []byte, each func(section, key, value string)) {
	section := ""
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		line := strings.TrimSpace(lines.Text())
		if name, ok := strings.CutPrefix(line, "["); ok {
			section = strings.NewReplacer(`"`, "", "'", "").Replace(strings.TrimSpace(strings.TrimSuffix(name, "]")))
			continue
		}
		key, value, ok := strings.Cut(line, "=")
		if !ok || strings.HasPrefix(line, "#") || strings.HasPrefix(line, ";") {
			continue
		}
		each(section, strings.TrimSpace(key), strings.Trim(strings.TrimSpace(value), `"'`))
	}
}

// goEnv reads what "go env -w" has written.
func (r *reader) goEnv() {
	names := strings.Fields(registryVariables[egress.GoModules])
	pairs(r.home(".config/go/env"), func(_, key, value string) {
		if slices.Contains(names, key) {
			r.set(egress.GoModules, key, value)
		}
	})
}

// npmrc reads the registries of npm, also those of scopes.
func (r *reader) npmrc() {
	var kept strings.Builder
	pairs(r.home(".npmrc"), func(_, key, value string) {
		switch {
		case key == "registry" && r.Env["npm_config_registry"] == "" && r.Env["NPM_CONFIG_REGISTRY"] == "":
			r.set(egress.NPM, "npm_config_registry", value)
		case strings.HasPrefix(key, "@") && strings.HasSuffix(key, ":registry"):
			fmt.Fprintf(&kept, "%s=%s\n", key, r.note(egress.NPM, value))
		}
	})
	if kept.Len() > 0 {
		r.Files[".npmrc"] = kept.String()
	}
}

// pip reads the indexes of pip.
func (r *reader) pip() {
	text := r.home(".config/pip/pip.conf", ".pip/pip.conf")
	if text == nil {
		text = r.file("/etc/pip.conf")
	}
	names := map[string]string{"index-url": "PIP_INDEX_URL", "extra-index-url": "PIP_EXTRA_INDEX_URL", "trusted-host": "PIP_TRUSTED_HOST"}
	pairs(text, func(section, key, value string) {
		if name := names[key]; name != "" && (section == "global" || section == "install") {
			r.set(egress.PyPI, name, value)
		}
	})
	pairs(r.home(".config/uv/uv.toml"), func(section, key, value string) {
		if key == "index-url" && (section == "" || section == "pip") {
			r.set(egress.PyPI, "UV_DEFAULT_INDEX", value)
		}
	})
}

// cargo reads by which source cargo replaces crates.io, and further registries.
func (r *reader) cargo() {
	var kept strings.Builder
	last := ""
	keep := func(section, key, value string) {
		if section != last {
			fmt.Fprintf(&kept, "[%s]\n", section)
			last = section
		}
		fmt.Fprintf(&kept, "%s = %q\n", key, value)
	}
	pairs(r.home(".cargo/config.toml", ".cargo/config"), func(section, key, value string) {
		kind, name, _ := strings.Cut(section, ".")
		known := regexp.MustCompile(`^[A-Za-z0-9_-]+$`).MatchString(name)
		switch {
		case kind == "source" && known && (key == "registry" || key == "replace-with"),
			kind == "registries" && known && key == "index":
			keep(section, key, r.note(egress.Crates, value))
		}
	})
	if kept.Len() > 0 {
		r.Files[".cargo/config.toml"] = kept.String()
	}
}

// A mavenSettings is the part of a settings.xml that names mirrors.
type mavenSettings struct {
	XMLName xml.Name `xml:"settings"`
	Mirrors []struct {
		ID       string `xml:"id"`
		Name     string `xml:"name,omitempty"`
		URL      string `xml:"url"`
		MirrorOf string `xml:"mirrorOf"`
	} `xml:"mirrors>mirror"`
}

// maven reads the mirrors of Maven.
func (r *reader) maven() {
	var s mavenSettings
	text := r.home(".m2/settings.xml")
	if text == nil || xml.Unmarshal(text, &s) != nil || len(s.Mirrors) == 0 {
		return
	}
	for i, m := range s.Mirrors {
		s.Mirrors[i].URL = r.note(egress.Maven, m.URL)
	}
	s.XMLName.Space = ""
	if written, err := xml.MarshalIndent(s, "", "  "); err == nil {
		r.Files[".m2/settings.xml"] = string(written) + "\n"
	}
}
