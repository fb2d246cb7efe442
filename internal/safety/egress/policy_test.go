package egress_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/safety/egress"
)

func TestPolicy(t *testing.T) {
	t.Parallel()
	listed := rules(t, "*.npmjs.org", "GET api.example/v1/*", "POST api.example/v2/*", "db.example:5432")
	for _, c := range []struct {
		mode  egress.Mode
		hosts []string
		rules []string
		asked []string
		kind  chela.Kind
	}{
		{egress.Ask, nil, nil, nil, ""},
		{egress.Ask, []string{"registry.npmjs.org"}, []string{"*.npmjs.org"}, nil, ""},
		{egress.Ask, []string{"Registry.NPMJS.org.", "a.npmjs.org"}, []string{"*.npmjs.org"}, nil, ""},
		{egress.Ask, []string{"api.example"}, []string{"GET api.example/v1/*", "POST api.example/v2/*"}, nil, ""},
		{egress.Ask, []string{"Other.example", "other.example", "db.example:5432"}, []string{"other.example", "db.example:5432"}, []string{"other.example"}, ""},
		{egress.Ask, []string{"db.example"}, []string{"db.example"}, []string{"db.example"}, ""},
		{egress.Ask, []string{"[2001:DB8::1]:8080"}, []string{"[2001:db8::1]:8080"}, []string{"[2001:db8::1]:8080"}, ""},
		{egress.Ask, []string{"*.example"}, nil, nil, chela.Invalid},
		{egress.Ask, []string{"*"}, nil, nil, chela.Invalid},
		{egress.Ask, []string{"https://a.example/"}, nil, nil, chela.Invalid},
		{egress.Ask, []string{"a.example:x"}, nil, nil, chela.Invalid},
		{egress.Ask, []string{"0x7f.1"}, nil, nil, chela.Invalid},
		{egress.Listed, []string{"registry.npmjs.org"}, []string{"*.npmjs.org"}, nil, ""},
		{egress.Listed, []string{"registry.npmjs.org", "other.example"}, nil, nil, chela.Denied},
		{egress.Off, []string{"registry.npmjs.org"}, nil, nil, chela.Denied},
		{"", []string{"registry.npmjs.org"}, nil, nil, chela.Denied},
		{egress.Allow, []string{"other.example", "db.example:5432"}, []string{"other.example", "db.example:5432"}, nil, ""},
		{egress.Allow, []string{"*"}, nil, nil, chela.Invalid},
	} {
		got, asked, err := egress.Policy{Mode: c.mode, Rules: listed}.Decide(c.hosts)
		var texts []string
		for _, r := range got {
			texts = append(texts, r.String())
		}
		if diff := cmp.Diff(c.rules, texts) + cmp.Diff(c.asked, asked); diff != "" || chela.KindOf(err) != c.kind {
			t.Errorf("%s %v: %v (-want +got)\n%s", c.mode, c.hosts, err, diff)
		}
		if err != nil && chela.HintOf(err) == "" {
			t.Errorf("%s %v: %v has no hint", c.mode, c.hosts, err)
		}
	}
}

// A command that names hosts of one group alone gets the group with its mirrors, where
// it is asked about them; a list of the owner stays as it is.
func TestGroups(t *testing.T) {
	t.Parallel()
	mirrors := map[string][]string{egress.GoModules: {"go.example:8443"}, egress.PyPI: {"pip.example", "not a host"}}
	for _, c := range []struct {
		mode   egress.Mode
		listed []string
		hosts  []string
		rules  []string
		asked  []string
		group  string
	}{
		{egress.Ask, nil, []string{"sum.golang.org"}, []string{"sum.golang.org", "proxy.golang.org", "go.example:8443"}, []string{"sum.golang.org", "proxy.golang.org", "go.example:8443"}, egress.GoModules},
		{egress.Ask, nil, []string{"go.example:8443"}, []string{"go.example:8443", "proxy.golang.org", "sum.golang.org"}, []string{"go.example:8443", "proxy.golang.org", "sum.golang.org"}, egress.GoModules},
		{egress.Ask, nil, []string{"Crates.io", "static.crates.io"}, []string{"crates.io", "static.crates.io", "index.crates.io"}, []string{"crates.io", "static.crates.io", "index.crates.io"}, egress.Crates},
		{egress.Ask, nil, []string{"pypi.org", "github.com"}, []string{"pypi.org", "github.com", "pip.example"}, []string{"pypi.org", "github.com", "pip.example"}, ""},
		{egress.Ask, nil, []string{"pypi.org:8080"}, []string{"pypi.org:8080"}, []string{"pypi.org:8080"}, ""},
		{egress.Ask, nil, []string{"evil.pypi.org"}, []string{"evil.pypi.org"}, []string{"evil.pypi.org"}, ""},
		{egress.Ask, []string{"GET pypi.org/simple/*"}, []string{"pypi.org"}, []string{"GET pypi.org/simple/*"}, nil, egress.PyPI},
		{egress.Ask, []string{"GET pypi.org/simple/*"}, []string{"pypi.org", "files.pythonhosted.org"}, []string{"GET pypi.org/simple/*", "files.pythonhosted.org", "pip.example"}, []string{"files.pythonhosted.org", "pip.example"}, egress.PyPI},
		{egress.Listed, []string{"pypi.org"}, []string{"pypi.org"}, []string{"pypi.org"}, nil, egress.PyPI},
		{egress.Allow, nil, []string{"proxy.golang.org"}, []string{"proxy.golang.org", "sum.golang.org", "go.example:8443"}, nil, egress.GoModules},
		{egress.Ask, nil, nil, nil, nil, ""},
	} {
		p := egress.Policy{Mode: c.mode, Rules: rules(t, c.listed...), Mirrors: mirrors}
		got, asked, err := p.Decide(c.hosts)
		if err != nil {
			t.Errorf("%v: %v", c.hosts, err)
		}
		var texts []string
		for _, r := range got {
			texts = append(texts, r.String())
		}
		group, _ := p.Group(c.hosts)
		if diff := cmp.Diff(c.rules, texts) + cmp.Diff(c.asked, asked) + cmp.Diff(c.group, group); diff != "" {
			t.Errorf("%s %v with %v (-want +got)\n%s", c.mode, c.hosts, c.listed, diff)
		}
	}
}
