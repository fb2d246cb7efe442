package job

// This part of the package composes the messages sent to jobs and to their
// requesters, and the texts of stories. It is pure.

import (
	"fmt"
	"strings"
	"time"

	"chela"
	"chela/internal/engine/turn"
	"chela/internal/platform/excerpt"
)

const (
	maxAnswer = 20_000 // bytes of an answer that are reported
	maxAsked  = 2_000  // bytes of the request that are reported with it

	leastAnswer = 200 // least bytes of each answer when there are many parts
	aroundPart  = 600 // most bytes reported of a part beside its answer
	maxReason   = 300 // bytes of the reason of an ending
)

// silent reports whether an answer is empty or consists of the silent token.
func silent(answer string) bool { return strings.TrimSpace(answer) == "" || turn.Silent(answer) }

// CutText truncates a text to at most most bytes and marks the cut.
func CutText(text string, most int) string {
	if len(text) <= most {
		return text
	}
	const mark = "\n[cut here]"
	return excerpt.Bytes(text, most-len(mark)) + mark
}

// beginningText returns the first message of an attempt of a job.
func beginningText(j chela.Job, said []string, parts []chela.Job) string {
	var b []string
	if j.Thread == "" {
		b = append(b, j.Text)
		if j.Options.Plan {
			b = append(b, "Record your plan with job_plan before you begin, and update the state of each step with job_step.")
		}
	}
	b = append(b, said...)
	if len(parts) > 0 {
		b = append(b, PartsText(parts))
	}
	if len(b) == 0 {
		b = append(b, j.Text) // a continued thread without new messages
	}
	return strings.Join(b, "\n\n")
}

// resumedText tells a job that it goes on after a pause.
const resumedText = "This job was paused, which stopped its turn, and has been resumed. Continue where it stopped; check first what was done already."

// PartsText reports the endings of a job's parts to the job.
func PartsText(parts []chela.Job) string {
	b := []string{"The parts of this job have ended. The task and the result of each (job_files reads the files of a part):"}
	most := max(leastAnswer, min(maxAnswer, chela.MaxMessageBytes/2/len(parts)-aroundPart))
	for i, p := range parts {
		b = append(b, fmt.Sprintf("## Part %d: %s (%s)\n\n%s", i+1, p.Title, p.ID, outcome(p, most)))
	}
	return strings.Join(b, "\n\n")
}

// outcome describes the ending and the answer of a job.
func outcome(j chela.Job, most int) string {
	text := "Ended: " + how(j)
	if j.Result == "" {
		return text + "\n\nIt gave no answer."
	}
	answer := CutText(j.Result, most)
	if answer != j.Result {
		answer += fmt.Sprintf("\n(The whole answer is in the session %s: see sessions_history.)", j.Session)
	}
	return text + "\n\n" + answer
}

// how describes the ending of a job in a few words.
func how(j chela.Job) string {
	reason := CutText(j.Reason, maxReason)
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

// stepReminder asks a job to complete the open steps of its plan.
func stepReminder(steps []chela.JobStep) string {
	return "Steps of your plan are open:\n" + plannedText(steps) +
		"\nDo them, or skip them with job_step and give the reason. Then give your complete final answer."
}

// plannedText describes a plan in the story of a job.
func plannedText(steps []chela.JobStep) string {
	lines := make([]string, len(steps))
	for i, s := range steps {
		lines[i] = fmt.Sprintf("%d. %s", s.Place, s.Text)
	}
	return strings.Join(lines, "\n")
}

// endingText reports the ending of a job to its requester.
func endingText(j chela.Job, spent chela.UsageSum, toJob bool) string {
	name := map[chela.JobKind]string{chela.JobSubagent: "A subagent", chela.JobPart: "A part", chela.JobPlain: "A job"}[j.Kind]
	instruction := reportEnding
	if toJob {
		instruction = "Go on with your work."
	}
	return strings.Join([]string{
		fmt.Sprintf("[%s that you requested has ended: %s]", name, j.Title),
		"Request:\n" + CutText(j.Text, maxAsked),
		outcome(j, maxAnswer),
		fmt.Sprintf("(%s; %d tokens in, %d out; %s; session %s; job %s)", took(j), spent.Tokens.Total()-spent.Tokens.Output, spent.Tokens.Output,
			spent.Cost, j.Session, j.ID),
		instruction,
	}, "\n\n")
}

// reportEnding asks a session to tell its person of an ending.
const reportEnding = "Report the important points to the person briefly, in your own words. If they already know, or do not need to, answer NO_REPLY alone."

// withFiles adds the files of a job to the report of its ending, before the last
// paragraph, which is the instruction.
func withFiles(text, files string) string {
	const gap = "\n\n"
	at := strings.LastIndex(text, gap)
	if at < 0 {
		return text + gap + files
	}
	return text[:at] + gap + files + text[at:]
}

// took returns the duration of an attempt.
func took(j chela.Job) time.Duration {
	if j.StartedAt.IsZero() {
		return 0
	}
	return j.FinishedAt.Sub(j.StartedAt).Round(time.Second)
}
