package egress

import (
	"slices"
	"strings"
)

// The groups of hosts that belong together, as people call them. A command that names
// only hosts of one group is asked about once, for all of them.
const (
	GoModules = "the Go module proxy"
	NPM       = "the npm registry"
	PyPI      = "the Python package index"
	Crates    = "the crates.io registry"
	Maven     = "Maven Central"
	RubyGems  = "the RubyGems registry"
	Debian    = "the Debian archive"
	GitHub    = "GitHub"
	GitLab    = "GitLab"
)

// groups lists the hosts of each group. All are public, and none is for anything but
// the packages or sources of the group.
var groups = []struct {
	name  string
	hosts string
}{
	{GoModules, "proxy.golang.org sum.golang.org"},
	{NPM, "registry.npmjs.org registry.yarnpkg.com"},
	{PyPI, "pypi.org files.pythonhosted.org"},
	{Crates, "index.crates.io static.crates.io crates.io"},
	{Maven, "repo.maven.apache.org repo1.maven.org"},
	{RubyGems, "rubygems.org index.rubygems.org"},
	{Debian, "deb.debian.org security.debian.org"},
	{GitHub, "github.com codeload.github.com objects.githubusercontent.com raw.githubusercontent.com release-assets.githubusercontent.com"},
	{GitLab, "gitlab.com"},
}

// Group returns the name of the group that all of the hosts belong to, and its hosts
// with the mirrors that the owner's settings name; nothing if there is none. A mirror
// belongs to its group.
func (p Policy) Group(hosts []string) (name string, all []string) {
	for _, g := range groups {
		all := strings.Fields(g.hosts)
		for _, mirror := range p.Mirrors[g.name] {
			if host, err := PlainHost(mirror); err == nil && !slices.Contains(all, host) {
				all = append(all, host)
			}
		}
		if len(hosts) > 0 && !slices.ContainsFunc(hosts, func(text string) bool {
			host, err := PlainHost(text)
			return err != nil || !slices.Contains(all, host)
		}) {
			return g.name, all
		}
	}
	return "", nil
}

// companions returns the hosts that a command which names some gets with them.
func (p Policy) companions(hosts []string) (all []string) {
	if _, all = p.Group(hosts); len(all) > 0 {
		return all
	}
	for _, host := range hosts {
		name, _ := p.Group([]string{host})
		for _, mirror := range p.Mirrors[name] {
			if host, err := PlainHost(mirror); err == nil {
				all = append(all, host)
			}
		}
	}
	return all
}
