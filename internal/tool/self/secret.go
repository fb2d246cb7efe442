package self

// This part of the package holds the tools that work on the vault: secret_list and
// secret_delete. They never see a value.

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"chela"
	"chela/internal/tool"
)

// secrets are the secrets of the owner.
type secrets interface {
	// All returns all secrets by name.
	All(ctx context.Context) ([]chela.Secret, error)

	// Delete deletes a secret, or returns NotFound.
	Delete(ctx context.Context, name chela.SecretName) error
}

// SecretTools returns the tools.
func SecretTools(vault secrets) []chela.Tool {
	s := secretTools{vault}
	return []chela.Tool{define("secret_list", s.list, nil), define("secret_delete", s.delete, secretInput.judge)}
}

type secretTools struct{ secrets }

func (s secretTools) list(ctx context.Context, _ tool.Call[struct{}]) (chela.ToolResult, error) {
	all, err := s.All(ctx)
	if err != nil {
		return chela.ToolResult{}, err
	}
	if len(all) == 0 {
		return tool.Done("there are no secrets"), nil
	}
	var b strings.Builder
	for _, one := range all {
		fmt.Fprintf(&b, "%s: %s%s\n", one.Name, cmp.Or(strings.Join(one.Hosts, ", "), "no hosts, for settings only"), given(" (%s)", one.Note))
	}
	return tool.Done(strings.TrimSuffix(b.String(), "\n")), nil
}

type secretInput struct {
	Name string `json:"name" jsonschema:"the name of the secret"`
}

func (in secretInput) judge() chela.Judgement {
	j := change("delete the secret "+oneLine(in.Name), "delete secret "+in.Name)
	j.Risk = "deletes a secret, which cannot be undone"
	return j
}

func (s secretTools) delete(ctx context.Context, call tool.Call[secretInput]) (chela.ToolResult, error) {
	err := s.Delete(ctx, chela.SecretName(call.In.Name))
	if chela.KindOf(err) == chela.NotFound {
		err = chela.E(chela.NotFound, "there is no secret of that name").WithHint("secret_list shows the names")
	}
	return tool.Done("deleted the secret " + oneLine(call.In.Name)), err
}
