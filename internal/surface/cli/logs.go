package cli

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/spf13/cobra"

	"chela/internal/platform/lazyregexp"
	"chela/internal/surface/terminal"
)

func (c *commands) logsCommand() *cobra.Command {
	type arguments struct {
		Follow bool   `flag:"follow" help:"follow new lines, until Ctrl-C"`
		Level  string `flag:"level" default:"debug" help:"the least level that is printed: debug, info, warn or error"`
	}
	return terminal.Command("logs", "Print the log", func(ctx context.Context, in arguments) error {
		var least slog.Level
		if err := least.UnmarshalText([]byte(in.Level)); err != nil {
			return invalid(fmt.Sprintf("--level cannot be %q", terminal.OneLine(in.Level, 40)), "use debug, info, warn or error")
		}
		return c.open(ctx, func(b *Backend) error { return c.logs(ctx, b, in.Follow, least) })
	})
}

// A logLine is the JSON output for a line.
type logLine struct {
	Level string `json:"level,omitempty"` // empty if the line has none
	Line  string `json:"line"`
}

// logs prints the lines of the log. Interrupting a follow is no error.
func (c *commands) logs(ctx context.Context, b *Backend, follow bool, least slog.Level) error {
	within, release := c.Interruptible(ctx)
	defer release()
	return b.Files.Logs(within, follow, func(line string) {
		level, known := levelOf(line)
		switch {
		case known && level < least:
		case !c.JSON:
			c.Line(line)
		default:
			l := logLine{Line: line}
			if known {
				l.Level = level.String()
			}
			c.Compact(l) //nolint:errcheck // text is JSON
		}
	})
}

// levelText finds the level as the two handlers of slog write it, before any
// text from outside.
var levelText = lazyregexp.New(`^(?:time=\S+ level=|\{"time":"[^"]*","level":")([A-Z]+(?:[+-]\d+)?)`)

// levelOf returns the level of a line of the log. It reports false for a line
// without one, which is printed at every level.
func levelOf(line string) (level slog.Level, known bool) {
	found := levelText().FindStringSubmatch(line)
	return level, found != nil && level.UnmarshalText([]byte(found[1])) == nil
}
