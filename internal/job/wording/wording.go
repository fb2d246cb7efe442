// Package wording says what jobs, whoever asked for them and their stories are told. It
// is pure.
package wording

import (
	"fmt"
	"strings"
	"time"

	"chela"
	"chela/internal/cue"
	"chela/internal/excerpt"
)

const (
	maxAnswer = 20_000 // bytes of an answer that are told
	maxAsked  = 2_000  // bytes of what was asked for that are told with it

	leastAnswer = 200 // bytes of the answer of one of very many parts
	aroundPart  = 600 // bytes that are told of a part beside its answer, at most
	maxReason   = 300 // bytes of why a job ended
)

// Silent reports whether an answer is for nobody.
func Silent(answer string) bool { return strings.TrimSpace(answer) == "" || cue.Silent(answer) }

// Cut returns the beginning of a text that fits, and says where it was cut.
func Cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	const mark = "\n[cut here]"
	return excerpt.Bytes(text, most-len(mark)) + mark
}

// Beginning returns the message with which an attempt of a job begins.
func Beginning(j chela.Job, said []string, parts []chela.Job) string {
	var b []string
	if j.Thread == "" {
		b = append(b, j.Text)
		if j.Options.Plan {
			b = append(b, "Write down your plan with job_plan before you begin, and tell with job_step how far you are with each step.")
		}
	}
	b = append(b, said...)
	if len(parts) > 0 {
		b = append(b, OfParts(parts))
	}
	if len(b) == 0 {
		b = append(b, j.Text) // a thread that goes on though nobody said anything
	}
	return strings.Join(b, "\n\n")
}

// OfParts tells a job how its parts ended.
func OfParts(parts []chela.Job) string {
	b := []string{"The parts of this job have ended. What each was to do, and what came of it:"}
	most := max(leastAnswer, min(maxAnswer, chela.MaxMessageBytes/2/len(parts)-aroundPart))
	for i, p := range parts {
		b = append(b, fmt.Sprintf("## Part %d: %s\n\n%s", i+1, p.Title, outcome(p, most)))
	}
	return strings.Join(b, "\n\n")
}

// outcome tells how a job ended and what it answered.
func outcome(j chela.Job, most int) string {
	text := "Ended: " + how(j)
	if j.Result == "" {
		return text + "\n\nIt gave no answer."
	}
	answer := Cut(j.Result, most)
	if answer != j.Result {
		answer += fmt.Sprintf("\n(The whole answer is in the session %s: see sessions_history.)", j.Session)
	}
	return text + "\n\n" + answer
}

// how tells in a few words how a job ended.
func how(j chela.Job) string {
	reason := Cut(j.Reason, maxReason)
	switch j.State {
	case chela.JobCompleted, chela.JobSubmitted, chela.JobAccepted:
		return strings.TrimSuffix("ok: "+reason, ": ")
	case chela.JobFailed:
		if strings.HasPrefix(reason, "timeout: ") {
			return reason
		}
		return "error: " + reason
	default:
		return strings.TrimSuffix(string(j.State)+": "+reason, ": ")
	}
}

// Reminder asks a job for the steps of its plan that are open.
func Reminder(steps []chela.JobStep) string {
	b := []string{"Steps of your plan are open:"}
	for _, s := range steps {
		b = append(b, fmt.Sprintf("%d. %s", s.Place, s.Text))
	}
	return strings.Join(append(b, "Do them, or say with job_step that you skip them and why. Then give your final answer, whole."), "\n")
}

// Planned tells a plan in the story of a job.
func Planned(steps []chela.JobStep) string {
	lines := make([]string, len(steps))
	for i, s := range steps {
		lines[i] = fmt.Sprintf("%d. %s", s.Place, s.Text)
	}
	return strings.Join(lines, "\n")
}

// Ending tells whoever asked for a job how it ended.
func Ending(j chela.Job, spent chela.UsageSum, toJob bool) string {
	name := map[chela.JobKind]string{chela.JobSubagent: "A subagent", chela.JobPart: "A part", chela.JobPlain: "A job"}[j.Kind]
	instruction := "Tell the person briefly, in your own words, what matters of it. If it has been told already or nobody needs to know, answer NO_REPLY alone."
	if toJob {
		instruction = "Go on with your work."
	}
	return strings.Join([]string{
		fmt.Sprintf("[%s that you asked for has ended: %s]", name, j.Title),
		"What was asked:\n" + Cut(j.Text, maxAsked),
		outcome(j, maxAnswer),
		fmt.Sprintf("(%s; %d tokens in, %d out; %s; session %s; job %s)", took(j), spent.Tokens.Total()-spent.Tokens.Output, spent.Tokens.Output,
			spent.Cost, j.Session, j.ID),
		instruction,
	}, "\n\n")
}

// took returns how long an attempt took.
func took(j chela.Job) time.Duration {
	if j.StartedAt.IsZero() {
		return 0
	}
	return j.FinishedAt.Sub(j.StartedAt).Round(time.Second)
}
