package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"chela"
	"chela/internal/api"
	"chela/internal/safety/leak"
	"chela/internal/surface/terminal"
)

func (c *commands) secretsCommand() *cobra.Command {
	return terminal.Group("secrets", "Keep passwords and tokens in the vault",
		c.secretSetCommand(), listing(c, api.SecretsList, secrets), verb(c, api.SecretsDelete, nil),
		listing(c, api.SecretsUses, secretUses), verb(c, api.SecretsRotate, func(r api.RotatedSecrets) {
			c.Fields("secrets", r.Secrets, "key", r.Key)
		}))
}

var secrets = table[chela.Secret]{
	head: "SECRET\tVERSION\tHOSTS\tCHANGED\tUSES\tUSED\tNOTE",
	row: func(s chela.Secret) []any {
		return []any{s.Name, s.Version, strings.Join(s.Hosts, ","), s.ChangedAt, s.Uses, s.UsedAt, s.Note}
	},
	none: "there are no secrets; chela secrets set NAME adds one",
}

var secretUses = table[chela.SecretUse]{
	head: "AT\tVERSION\tPURPOSE\tHOST\tSESSION\tTURN",
	row:  func(u chela.SecretUse) []any { return []any{u.At, u.Version, u.Purpose, u.Host, u.Session, u.Turn} },
	none: "it was not used yet",
}

func (c *commands) secretSetCommand() *cobra.Command {
	cmd := derived(c, api.SecretsSet, func(ctx context.Context, b *Backend, q api.NewSecret) (err error) {
		b.Leave()
		if q.Value.Value, err = c.secretValue(q.Name); err != nil {
			return err
		}
		made, err := api.Call(ctx, b, api.SecretsSet, q)
		return answer(c, made, err, func(s chela.Secret) {
			if len(q.Value.Value) < leak.MinValue {
				c.Note(fmt.Sprintf("a value of fewer than %d bytes is not recognised in texts: it is not redacted there", leak.MinValue))
			}
			c.Fields("secret", s.Name, "version", s.Version, "hosts", cmp.Or(strings.Join(s.Hosts, ", "), "none: only settings use it"))
		})
	})
	cmd.Long = "Set the value of a secret. The value is asked for and not shown, or read from standard input; a line\n" +
		"end after it is left out. It is never an argument, which other users and the shell's history could see."
	cmd.Example = "  chela secrets set github --host api.github.com\n  chela secrets set deploy-key < key.pem\n" +
		"  chela config set providers.openai.api_key secret:openai"
	count := cmd.Args
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) > 1 {
			return invalid("a value is not given on the command line, where other users and the shell's history can see it",
				"run "+cmd.CommandPath()+" NAME and type it, or pipe it in")
		}
		return count(cmd, args)
	}
	return cmd
}

// secretValue returns the value of a secret from a terminal, which does not show it,
// or from standard input.
func (c *commands) secretValue(name chela.SecretName) (string, error) {
	if f, ok := c.Stdin.(*os.File); ok && terminal.IsTTY(f) {
		value, err := terminal.Hidden(f, c.Err, fmt.Sprintf("value of %s (not shown): ", name))
		if errors.Is(err, io.EOF) {
			err = terminal.ErrInterrupted
		}
		return value, err
	}
	value, err := c.piped(api.MaxSecret + 1)
	if value = strings.TrimRight(value, "\r\n"); err == nil && value == "" {
		err = invalid("there is no value", "type it in a terminal, or pipe it in")
	}
	return value, err
}
