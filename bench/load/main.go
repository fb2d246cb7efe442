// Command load loads a server with turns and measures what becomes of them. It
// brings a fake model server, which answers at once, and drives whatever speaks
// Chat Completions, so that programs can be compared.
//
//	load fake       serves the fake model
//	load run        has turns in many sessions, one after the other or at a rate
//	load overhead   compares turns through a server with the model asked directly
//	load soak       runs for minutes and tells by how much the server grows
//	load sse        reads the events of one session of a chela many times over
//	load routines   has routines become due and tells how late they fire
//	load all        measures a chela from its start on and prints a table
//	load versus     compares a chela with an earlier one
//
// Each has -h. What is measured of a process works on Linux only.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"chela"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	code := run(ctx, os.Args[1:], streams{os.Stdout, os.Stderr})
	stop()
	os.Exit(code)
}

// streams are where a command writes: what it found, and what it is at.
type streams struct{ out, progress io.Writer }

// A command is one thing that the program can do.
type command struct {
	name string
	run  func(ctx context.Context, flags *flag.FlagSet, args []string, to streams) error
}

var commands = []command{
	{"fake", serveFake},
	{"run", runLoad},
	{"overhead", compare},
	{"soak", soak},
	{"sse", watch},
	{"routines", fires},
	{"all", measureAll},
	{"versus", compareVersions},
}

// run runs a command and returns the exit code: 0 if all went well, 1 if
// something failed or a target was missed, 2 for wrong use, 130 when it was
// interrupted.
func run(ctx context.Context, args []string, to streams) int {
	name := ""
	if len(args) > 0 {
		name = args[0]
	}
	for _, c := range commands {
		if c.name != name {
			continue
		}
		flags := flag.NewFlagSet("load "+name, flag.ContinueOnError)
		flags.SetOutput(to.progress)
		return exitCode(ctx, c.run(ctx, flags, args[1:], to), to.progress)
	}
	fmt.Fprintln(to.progress, "use: load fake|run|overhead|soak|sse|routines|all|versus [flags]; each has -h")
	return 2
}

// errUse is a mistake on the command line that package flag has told already.
var errUse = errors.New("wrong use")

func exitCode(ctx context.Context, err error, to io.Writer) int {
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return 0
	case ctx.Err() != nil:
		fmt.Fprintln(to, "interrupted")
		return 130
	case errors.Is(err, errUse):
		return 2
	}
	fmt.Fprintln(to, "load:", cmp.Or(hinted(err), err.Error()))
	if chela.KindOf(err) == chela.Invalid {
		return 2
	}
	return 1
}

// hinted adds the hint to an error that has one.
func hinted(err error) string {
	if hint := chela.HintOf(err); hint != "" {
		return err.Error() + "; " + hint
	}
	return ""
}

// parse reads flags, after which nothing may follow.
func parse(flags *flag.FlagSet, args []string) error {
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return err
		}
		return errUse
	}
	if flags.NArg() > 0 {
		return chela.E(chela.Invalid, fmt.Sprintf("%q is not a flag", flags.Arg(0)))
	}
	return nil
}
