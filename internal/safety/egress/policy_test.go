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
		{egress.None, []string{"registry.npmjs.org"}, nil, nil, chela.Denied},
		{"", []string{"registry.npmjs.org"}, nil, nil, chela.Denied},
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
