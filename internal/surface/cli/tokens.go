package cli

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"chela"
	"chela/internal/api"
	"chela/internal/surface/cli/manners"
	"chela/internal/surface/terminal"
)

const tokenHint = "see chela tokens list"

func (c *commands) tokensCommand() *cobra.Command {
	return manners.Group("tokens", "Make and revoke tokens of the HTTP API",
		c.tokenCreateCommand(),
		&cobra.Command{
			Use: "list", Short: "List the tokens, the oldest first", Args: manners.Exactly(0),
			RunE: c.inHome(func(ctx context.Context, b *Backend, _ []string) error {
				found, err := api.All(ctx, b.API, api.TokensList, api.TokensQuery{})
				if err != nil {
					return err
				}
				return manners.List(c.p, found, []string{"TOKEN", "NAME", "SCOPE", "CREATED", "REVOKED"}, tokenRow)
			}),
		},
		&cobra.Command{
			Use: "revoke ID", Short: "End a token: it does not work any more", Args: manners.Exactly(1),
			RunE: c.inHome(func(ctx context.Context, b *Backend, args []string) error {
				_, err := api.Call(ctx, b.API, api.TokensRevoke, api.TokenRef{ID: chela.TokenID(args[0])})
				return manners.NotThere(err, tokenHint)
			}),
		},
	)
}

func (c *commands) tokenCreateCommand() *cobra.Command {
	var scope string
	cmd := &cobra.Command{
		Use: "create NAME", Short: "Make a token and print it, this once", Args: manners.Exactly(1),
		Long: "Make a token and print it, this once. A program sends it as \"Authorization: Bearer TOKEN\".\n\n" +
			"read   may look at everything but secrets\n" +
			"chat   may send messages, stop turns and answer approvals too\n" +
			"admin  may change settings and tokens, and run tools by hand too",
		RunE: func(cmd *cobra.Command, args []string) error {
			if s := chela.Scope(scope); !s.Valid() {
				return chela.E(chela.Invalid, fmt.Sprintf("--scope cannot be %q", terminal.OneLine(scope, 40))).
					WithHint("use read, talk, chat or admin")
			}
			return c.inHome(func(ctx context.Context, b *Backend, args []string) error {
				return c.tokenCreate(ctx, b, api.NewToken{Name: args[0], Scope: chela.Scope(scope)})
			})(cmd, args)
		},
	}
	cmd.Flags().StringVar(&scope, "scope", string(chela.ScopeChat), "what it may do: read, talk, chat or admin")
	return cmd
}

func tokenRow(t chela.Token) []string {
	return []string{string(t.ID), t.Name, string(t.Scope), terminal.Moment(t.CreatedAt), terminal.Moment(t.RevokedAt)}
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
