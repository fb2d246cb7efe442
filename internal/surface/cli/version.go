package cli

import (
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"chela/internal/surface/cli/console"
)

// build describes this program.
type build struct {
	Version  string `json:"version"`
	Commit   string `json:"commit,omitempty"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func (c *commands) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  console.Exactly(0),
		RunE: func(*cobra.Command, []string) error {
			b := c.build()
			if c.p.JSON {
				return c.p.Document(b)
			}
			line := "chela " + b.Version + " " + b.Go + " " + b.Platform
			if b.Commit != "" {
				line += " " + b.Commit
			}
			c.p.Line(line)
			return nil
		},
	}
}

// build reads the build information of the linked program.
func (c *commands) build() build {
	b := build{Version: c.Version, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	known, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	if b.Version == "" {
		b.Version = known.Main.Version
	}
	for _, s := range known.Settings {
		if s.Key == "vcs.revision" {
			b.Commit = s.Value
		}
	}
	return b
}
