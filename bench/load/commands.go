package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"time"

	"chela/bench/load/drive"
	"chela/bench/load/fake"
	"chela/bench/load/table"
)

func serveFake(ctx context.Context, flags *flag.FlagSet, args []string, to streams) error {
	var cfg fake.Config
	listen := flags.String("listen", "127.0.0.1:0", "`address` to serve at")
	flags.StringVar((*string)(&cfg.Mode), "mode", string(fake.Text), "text, or tool: a call and then text")
	flags.StringVar(&cfg.Tool, "tool", "echo", "`name` of the tool that is called")
	flags.StringVar(&cfg.Arguments, "arguments", `{"message":"hello"}`, "of that tool, as `JSON`")
	flags.DurationVar(&cfg.Latency, "latency", 0, "before an answer begins")
	flags.DurationVar(&cfg.Pause, "pause", 0, "between the pieces of a stream; with none they are sent in one go")
	flags.IntVar(&cfg.Chunks, "chunks", 1, "pieces of a streamed answer")
	if err := parse(flags, args); err != nil {
		return err
	}
	s, err := fake.New(cfg)
	if err != nil {
		return err
	}
	ln, err := new(net.ListenConfig).Listen(ctx, "tcp", *listen)
	if err != nil {
		return err
	}
	fmt.Fprintf(to.out, "http://%s/v1\n", ln.Addr())
	return s.Run(ctx, ln)
}

// targetFlags are about who is asked.
func targetFlags(flags *flag.FlagSet, t *drive.Target) {
	flags.StringVar(&t.URL, "url", "http://127.0.0.1:7717/v1", "`address` of the server, with the version")
	flags.StringVar(&t.Token, "token", "", "bearer `token`")
	flags.DurationVar(&t.Timeout, "timeout", drive.DefaultTimeout, "of one turn")
}

// loadFlags are about turns and what is looked at.
func loadFlags(flags *flag.FlagSet, l *drive.Load) {
	l.Now = time.Now
	targetFlags(flags, &l.Target)
	flags.StringVar(&l.Model, "model", "chela", "`name` of the model")
	flags.BoolVar(&l.Stream, "stream", false, "ask for streams")
	flags.IntVar(&l.SessionTurns, "session-turns", 0, "after so many a session is followed by a new one; 0 means never")
	flags.StringVar(&l.Prefix, "prefix", "", "of the names of sessions; empty means one made of the time")
	flags.Float64Var(&l.Warmup, "warmup", 0.1, "`share` of the load that is had before anything is measured")
	flags.IntVar(&l.PID, "pid", 0, "`process` to look at")
	flags.StringVar(&l.Disk, "disk", "", "`folder` to look at")
}

func runLoad(ctx context.Context, flags *flag.FlagSet, args []string, to streams) error {
	var l drive.Load
	loadFlags(flags, &l)
	flags.IntVar(&l.Sessions, "sessions", 64, "at once")
	flags.IntVar(&l.Turns, "turns", 5000, "that are measured; 0 means until the duration is over")
	flags.DurationVar(&l.Duration, "duration", 0, "of the measured part; 0 means until all turns were had")
	flags.Float64Var(&l.Rate, "rate", 0, "turns a second, whether answered or not; 0 means each after the one before")
	asJSON := flags.Bool("json", false, "print one JSON document")
	if err := parse(flags, args); err != nil {
		return err
	}
	r, err := l.Run(ctx)
	if err != nil {
		return err
	}
	return show(to.out, *asJSON, r, printReport)
}

func compare(ctx context.Context, flags *flag.FlagSet, args []string, to streams) error {
	var l drive.Load
	loadFlags(flags, &l)
	flags.IntVar(&l.Turns, "turns", 1000, "that are measured, each way")
	direct := flags.String("fake", "", "`address` of the model behind the server, with the version")
	asJSON := flags.Bool("json", false, "print one JSON document")
	if err := parse(flags, args); err != nil {
		return err
	}
	o, err := drive.Compare(ctx, l, drive.Target{URL: *direct, Model: fake.Model, Stream: l.Stream})
	if err != nil {
		return err
	}
	return show(to.out, *asJSON, o, printOverhead)
}

func soak(ctx context.Context, flags *flag.FlagSet, args []string, to streams) error {
	var l drive.Load
	loadFlags(flags, &l)
	flags.IntVar(&l.Sessions, "sessions", 64, "at once")
	flags.Float64Var(&l.Rate, "rate", 0, "turns a second; 0 means each after the one before")
	minutes := flags.Float64("minutes", 10, "how long")
	every := flags.Duration("every", 10*time.Second, "from one sample to the next")
	asJSON := flags.Bool("json", false, "print one JSON document")
	if err := parse(flags, args); err != nil {
		return err
	}
	l.Duration, l.Warmup = time.Duration(*minutes*float64(time.Minute)), 0
	s, err := l.Soak(ctx, to.progress, *every, drive.Settled)
	if err != nil {
		return err
	}
	return show(to.out, *asJSON, s, printSoak)
}

func watch(ctx context.Context, flags *flag.FlagSet, args []string, to streams) error {
	w := drive.Watch{Now: time.Now}
	targetFlags(flags, &w.Target)
	flags.StringVar(&w.Session, "session", "", "`key` of the session; it should be new")
	flags.IntVar(&w.Readers, "readers", 1000, "at once")
	flags.Float64Var(&w.Rate, "rate", 5, "messages a second; each causes several events")
	seconds := flags.Float64("seconds", 20, "how long messages are sent")
	asJSON := flags.Bool("json", false, "print one JSON document")
	if err := parse(flags, args); err != nil {
		return err
	}
	w.Duration = time.Duration(*seconds * float64(time.Second))
	r, err := w.Run(ctx)
	if err != nil {
		return err
	}
	return show(to.out, *asJSON, r, printWatch)
}

func measureAll(ctx context.Context, flags *flag.FlagSet, args []string, to streams) error {
	b := table.Bench{Now: time.Now, Progress: to.progress}
	flags.StringVar(&b.Program, "chela", "bin/chela", "`path` of the program")
	flags.StringVar(&b.Database, "database-url", "", "`URL` of an empty PostgreSQL database, to measure that as well")
	flags.StringVar(&b.Config, "config", "", "`file` with more settings for config.toml")
	flags.StringVar(&b.Only, "only", "", "`words`, with commas between: steps whose name has none of them are left out")
	flags.Float64Var(&b.Scale, "scale", 1, "of numbers of turns and of times; only 1 gives numbers that mean something")
	if err := parse(flags, args); err != nil {
		return err
	}
	return b.Run(ctx, to.out)
}

func compareVersions(ctx context.Context, flags *flag.FlagSet, args []string, to streams) error {
	v := table.Versus{Bench: table.Bench{Now: time.Now, Progress: to.progress}}
	flags.StringVar(&v.Program, "chela", "bin/chela", "`path` of the program")
	flags.StringVar(&v.Against, "against", "", "`path` of the earlier program")
	flags.IntVar(&v.Rounds, "rounds", 5, "of both programs")
	flags.Float64Var(&v.Scale, "scale", 1, "of numbers of turns; only 1 gives numbers that mean something")
	if err := parse(flags, args); err != nil {
		return err
	}
	return v.Run(ctx, to.out)
}

// show prints what was found as one document, or in words.
func show[T any](to io.Writer, asJSON bool, found T, inWords func(io.Writer, T)) error {
	if !asJSON {
		inWords(to, found)
		return nil
	}
	e := json.NewEncoder(to)
	e.SetIndent("", "  ")
	return e.Encode(found)
}

func fires(ctx context.Context, flags *flag.FlagSet, args []string, to streams) error {
	f := drive.Fires{Now: time.Now}
	targetFlags(flags, &f.Target)
	flags.IntVar(&f.Routines, "routines", 200, "that become due")
	flags.DurationVar(&f.Window, "window", 40*time.Second, "in which they do")
	flags.DurationVar(&f.Lead, "lead", 10*time.Second, "for making them")
	asJSON := flags.Bool("json", false, "print one JSON document")
	if err := parse(flags, args); err != nil {
		return err
	}
	r, err := f.Run(ctx)
	if err != nil {
		return err
	}
	return show(to.out, *asJSON, r, printFires)
}
