package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"chela/bench/load/drive"
	"chela/bench/load/measure"
)

// line prints one thing that was measured.
func line(to io.Writer, what, format string, args ...any) {
	fmt.Fprintf(to, "%-22s %s\n", what, fmt.Sprintf(format, args...))
}

func times(to io.Writer, what string, q measure.Quantiles) {
	line(to, what, "p50 %s  p95 %s  p99 %s  max %s ms",
		measure.Number(q.P50), measure.Number(q.P95), measure.Number(q.P99), measure.Number(q.Max))
}

func megabytes(bytes float64) string { return measure.Number(bytes/1e6) + " MB" }

func printReport(to io.Writer, r *drive.Report) {
	line(to, "sessions", "%d", r.Sessions)
	line(to, "turns", "%d in %s s", r.Turns, measure.Number(r.Seconds))
	line(to, "turns a second", "%s", measure.Number(r.PerSecond))
	times(to, "a turn takes", r.Took)
	if r.First.Count > 0 {
		times(to, "its first text", r.First)
	}
	if r.Peak > 0 {
		line(to, "CPU of a turn", "%s ms", measure.Number(r.CPU))
		line(to, "resident memory", "%s, at most %s", megabytes(float64(r.Resident)), megabytes(float64(r.Peak)))
		line(to, "open files", "%d", r.Files)
	}
	if r.Disk != 0 {
		line(to, "disk for a turn", "%s kB", measure.Number(r.Disk/1e3))
	}
	if r.Refused > 0 {
		line(to, "refused", "%d, of these without Retry-After %d", r.Refused, r.Unpaced)
	}
	for _, status := range slices.Sorted(maps.Keys(r.Errors)) {
		line(to, "failed: "+status, "%d; such as: %s", r.Errors[status], cut(r.Said[status]))
	}
}

// cut makes what a server said fit on a line.
func cut(text string) string {
	const most = 200
	text = strings.Join(strings.Fields(text), " ")
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

func printOverhead(to io.Writer, o *drive.Overhead) {
	times(to, "through the server", o.Through)
	times(to, "straight", o.Direct)
	line(to, "added by the median", "%s ms, %s times as long", measure.Number(o.Added), measure.Number(o.Ratio))
	if o.CPU > 0 {
		line(to, "CPU of a turn", "%s ms", measure.Number(o.CPU))
	}
}

func printSoak(to io.Writer, s *drive.Soak) {
	printReport(to, s.Report)
	line(to, "memory grows", "%s a minute, %s times from settled to end", megabytes(s.Soaked.Resident), measure.Number(s.Growth))
	line(to, "open files grow", "%s a minute", measure.Number(s.Soaked.Files))
	line(to, "the folder grows", "%s a minute", megabytes(s.Soaked.Disk))
}

func printWatch(to io.Writer, r *drive.WatchReport) {
	line(to, "readers", "%d", r.Readers)
	line(to, "messages", "%d", r.Messages)
	line(to, "events", "%d, %s a second, to each reader", r.Events, measure.Number(r.PerSecond))
	times(to, "an event takes", r.Took)
	line(to, "missing", "%d", r.Missing)
	line(to, "duplicate", "%d", r.Duplicate)
	line(to, "out of order", "%d", r.Unordered)
	line(to, "never told again", "%d", r.Strange)
	line(to, "hints", "%d", r.Hints)
	line(to, "resyncs", "%d", r.Resyncs)
	line(to, "reconnects", "%d", r.Reconnects)
}

func printFires(to io.Writer, r *drive.FiresReport) {
	line(to, "routines", "%d", r.Routines)
	line(to, "due times", "%d", r.Due)
	line(to, "missing", "%d", r.Missing)
	line(to, "early", "%d", r.Early)
	line(to, "not ended well", "%d %s", r.Failed, cut(r.Said))
	printDelays(to, "a run", r.All)
	for _, kind := range slices.Sorted(maps.Keys(r.Actions)) {
		printDelays(to, string(kind), r.Actions[kind])
	}
}

func printDelays(to io.Writer, what string, d drive.Delays) {
	times(to, what+" fired", d.Fired)
	times(to, what+" begun", d.Begun)
	times(to, what+" ended", d.Ended)
}
