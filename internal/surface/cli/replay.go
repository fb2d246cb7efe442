package cli

import (
	"cmp"
	"fmt"

	"chela"
	"chela/internal/api"
	"chela/internal/surface/cli/console"
)

// tellReplay prints the result. A difference from the record is an error.
func tellReplay(p *console.Printer, r api.Replay) error {
	show := writeReplay
	if p.JSON {
		show = func(p *console.Printer, r api.Replay) error { return p.Document(r) }
	}
	if err := show(p, r); err != nil || r.Same {
		return err
	}
	return chela.E(chela.Conflict, fmt.Sprintf("turn %s differs from its record", r.Turn)).
		WithHint("see whether chela or its limits have changed since")
}

// writeReplay formats the result for people.
func writeReplay(p *console.Printer, r api.Replay) error {
	if d := r.Difference; d != nil {
		p.Fields(
			[2]string{"differs in", d.Place}, [2]string{"recorded", cmp.Or(d.Recorded, "nothing")}, [2]string{"replayed", cmp.Or(d.Replayed, "nothing")},
		)
	} else {
		p.Line(fmt.Sprintf("All %d entries are the same.", r.Entries))
	}
	if l := r.Live; l != nil {
		p.Line("")
		p.Fields(
			[2]string{"live turn", string(l.Turn)}, [2]string{"live thread", string(l.Thread)},
			[2]string{"recorded", endingText(r.Recorded)}, [2]string{"live", endingText(l.Ending)},
		)
	}
	if len(r.Prompts) == 0 {
		return nil
	}
	p.Line("")
	return console.List(p, r.Prompts, []string{"STEP", "MESSAGES", "BYTES"}, func(s api.StepSize) []string {
		return []string{fmt.Sprint(s.Step), fmt.Sprint(s.Messages), fmt.Sprint(s.Bytes)}
	})
}

// endingText describes on one line how a turn ended.
func endingText(e api.Ending) string {
	text := fmt.Sprintf("%s after %d steps", e.State, e.Steps)
	if e.Failure != nil {
		text += " (" + e.Failure.Message + ")"
	}
	if e.Answer != "" {
		text += ": " + e.Answer
	}
	return text
}
