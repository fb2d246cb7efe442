package self_test

import (
	"context"
	"strings"
	"testing"

	"chela"
	"chela/internal/tool/self"
)

// A vault has secrets by name.
type vault map[chela.SecretName]chela.Secret

func (v vault) All(context.Context) (all []chela.Secret, _ error) {
	for _, s := range v {
		all = append(all, s)
	}
	return all, nil
}

func (v vault) Delete(_ context.Context, name chela.SecretName) error {
	if _, ok := v[name]; !ok {
		return chela.E(chela.NotFound, "there is none")
	}
	delete(v, name)
	return nil
}

func TestSecretTools(t *testing.T) {
	t.Parallel()
	v := vault{"github": {Name: "github", Hosts: []string{"api.github.com"}, Note: "for issues", Key: "1234"}}
	tools := self.SecretTools(v)
	run := func(i int, args string) string {
		t.Helper()
		res, err := tools[i].Run(t.Context(), chela.ToolCall{Tool: tools[i].Name, Args: []byte(args)})
		if err != nil {
			t.Fatal(err)
		}
		return res.Text
	}
	if got := run(0, `{}`); got != "github: api.github.com (for issues)" {
		t.Errorf("listed: %q", got)
	}
	if j := tools[1].Judge([]byte(`{"name":"github"}`)); j.Risk == "" || j.Effect != chela.EffectWrite {
		t.Errorf("judged: %+v", j)
	}
	if got := run(1, `{"name":"gitlab"}`); !strings.Contains(got, "there is no secret of that name") {
		t.Errorf("deleted what is not there: %q", got)
	}
	if got := run(1, `{"name":"github"}`); got != "deleted the secret github" || len(v) > 0 {
		t.Errorf("deleted: %q, left %v", got, v)
	}
	if got := run(0, `{}`); got != "there are no secrets" {
		t.Errorf("listed: %q", got)
	}
}
