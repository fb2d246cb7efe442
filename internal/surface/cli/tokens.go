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
			RunE: c.withTokens(func(ctx context.Context, all tokens, _ []string) error {
				found, err := all.Tokens(ctx)
				if err != nil {
					return err
				}
				return manners.List(c.p, found, []string{"TOKEN", "NAME", "SCOPE", "CREATED", "REVOKED"}, tokenRow)
			}),
		},
		&cobra.Command{
			Use: "revoke ID", Short: "End a token: it does not work any more", Args: manners.Exactly(1),
			RunE: c.withTokens(func(ctx context.Context, all tokens, args []string) error {
				return manners.NotThere(all.RevokeToken(ctx, chela.TokenID(args[0])), tokenHint)
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
			return c.withTokens(func(ctx context.Context, all tokens, args []string) error {
				return c.tokenCreate(ctx, all, args[0], chela.Scope(scope))
			})(cmd, args)
		},
	}
	cmd.Flags().StringVar(&scope, "scope", string(chela.ScopeChat), "what it may do: read, talk, chat or admin")
	return cmd
}

// withTokens returns the body of a command on the tokens of the home.
func (c *commands) withTokens(use func(context.Context, tokens, []string) error) func(*cobra.Command, []string) error {
	return c.inHome(func(ctx context.Context, b *Backend, args []string) error {
		return use(ctx, b.Tokens, args)
	})
}

func tokenRow(t chela.Token) []string {
	return []string{string(t.ID), t.Name, string(t.Scope), terminal.Moment(t.CreatedAt), terminal.Moment(t.RevokedAt)}
}

// tokenCreate prints the secret alone on standard output, for $(…).
func (c *commands) tokenCreate(ctx context.Context, all tokens, name string, scope chela.Scope) error {
	made, secret, err := all.CreateToken(ctx, name, scope)
	if err != nil {
		return err
	}
	if c.p.JSON {
		return c.p.Document(api.MadeToken{Token: made, Secret: secret})
	}
	c.p.Line(secret)
	c.p.Note(fmt.Sprintf("keep it: it is not shown again; %s may %s, until chela tokens revoke %s", made.Name, mayDo(scope), made.ID))
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
func firstToken(ctx context.Context, all tokens) (string, error) {
	found, err := all.Tokens(ctx)
	if err != nil {
		return "", err
	}
	if slices.ContainsFunc(found, func(t chela.Token) bool { return !t.Revoked() }) {
		return "", nil
	}
	_, secret, err := all.CreateToken(ctx, "first", chela.ScopeAdmin)
	return secret, err
}
