package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"chela"
	"chela/internal/api"
	"chela/internal/surface/cli/console"
	"chela/internal/surface/terminal"
)

func (c *commands) tokensCommand() *cobra.Command {
	return console.Group("tokens", "Make and revoke tokens of the HTTP API",
		c.tokenCreateCommand(), listing(c, api.TokensList, tokens), verb(c, api.TokensRevoke, nil))
}

var tokens = table[chela.Token]{
	head: []string{"TOKEN", "NAME", "SCOPE", "CREATED", "REVOKED"},
	row: func(t chela.Token) []string {
		return []string{string(t.ID), t.Name, string(t.Scope), terminal.Moment(t.CreatedAt), terminal.Moment(t.RevokedAt)}
	},
}

func (c *commands) tokenCreateCommand() *cobra.Command {
	cmd := derived(c, api.TokensCreate, func(ctx context.Context, b *Backend, q api.NewToken) error {
		q.Scope = cmp.Or(q.Scope, chela.ScopeChat)
		return c.tokenCreate(ctx, b, q)
	})
	cmd.Short = "Make a token and print it, this once"
	cmd.Long = "Make a token and print it, this once. A program sends it as \"Authorization: Bearer TOKEN\".\n\n" +
		"read   may look at everything but secrets\n" +
		"talk   may send messages and stop turns too\n" +
		"chat   may answer approvals and change sessions, jobs and routines too\n" +
		"admin  may change settings and tokens, and run tools by hand too"
	return cmd
}

// tokenCreate prints the secret alone on standard output, for $(…).
func (c *commands) tokenCreate(ctx context.Context, b *Backend, q api.NewToken) error {
	made, err := api.Call(ctx, b.API, api.TokensCreate, q)
	if err != nil {
		return err
	}
	if c.p.JSON {
		return c.p.Document(made)
	}
	c.p.Line(made.Secret)
	c.p.Note(fmt.Sprintf("keep it: it is not shown again; %s may %s, until chela tokens revoke %s", made.Name, mayDo(q.Scope), made.ID))
	return nil
}

// mayDo describes a scope.
func mayDo(s chela.Scope) string {
	switch s {
	case chela.ScopeRead:
		return "look at everything but secrets"
	case chela.ScopeTalk:
		return "look and send messages, and not answer approvals"
	case chela.ScopeChat:
		return "look, send messages and answer approvals"
	default:
		return "do everything"
	}
}

// firstToken creates a token with full access if there is no usable one, and
// returns its secret; "" otherwise.
func firstToken(ctx context.Context, home caller) (string, error) {
	found, err := api.All(ctx, home, api.TokensList, api.TokensQuery{})
	if err != nil {
		return "", err
	}
	if slices.ContainsFunc(found, func(t chela.Token) bool { return !t.Revoked() }) {
		return "", nil
	}
	made, err := api.Call(ctx, home, api.TokensCreate, api.NewToken{Name: "first", Scope: chela.ScopeAdmin})
	return made.Secret, err
}
