package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"chela/internal/cli/manners"
)

func (c *commands) serveCommand() *cobra.Command {
	var listen string
	cmd := &cobra.Command{
		Use: "serve", Short: "Serve the HTTP API until stopped", Args: manners.Exactly(0),
		Long: "Serve the HTTP API and let turns go on, until Ctrl-C or SIGTERM. What runs then stops at its\n" +
			"next commit and goes on at the next start; a second Ctrl-C does not wait for that.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Flags().Changed("listen") {
				c.set("listen", listen)
			}
			return c.serve(cmd.Context())
		},
	}
	c.providerFlag(cmd)
	cmd.Flags().StringVar(&listen, "listen", "", "address and port (CHELA_LISTEN, default 127.0.0.1:7717)")
	return cmd
}

// serve serves the home until it is told to stop, which is its good end.
func (c *commands) serve(ctx context.Context) error {
	cfg, err := c.asking(ctx, "")
	if err != nil {
		return err
	}
	c.stays = true
	within, release := c.Interruptible(ctx)
	defer release()
	// From the first Ctrl-C on, the next one ends the process as usual.
	defer context.AfterFunc(within, release)()
	return c.Serve(within, cfg, c.listening)
}

// listening tells where the API is, and how to get in.
func (c *commands) listening(at Listening) {
	urls := make([]string, len(at.Addresses))
	for i, address := range at.Addresses {
		urls[i] = "http://" + address
	}
	c.p.Note("chela: listening on " + strings.Join(urls, " and "))
	if at.Tokens == 0 {
		c.p.Note("there is no token yet, so nobody gets in; make one with chela tokens create NAME")
	}
	if c.p.JSON {
		c.p.Compact(at) //nolint:errcheck // text and a number are JSON
	}
}
