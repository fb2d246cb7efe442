package cli

import (
	"fmt"

	"chela"
	"chela/internal/api"
	"chela/internal/platform/excerpt"
)

// jobDiff writes the changes of a job: a line for each file, and the differences.
func (c *commands) jobDiff(v api.JobDiff) {
	if len(v.Files) == 0 {
		c.Note(fmt.Sprintf("job %s changed no files in its copy of the folder", v.Job))
	}
	for _, f := range v.Files {
		c.Line(f.Line())
	}
	if v.Text != "" {
		c.Line("")
		c.Text(v.Text)
	}
	if v.Cut {
		c.Note("the differences of some files are not shown, as they are too long; chela jobs files " + string(v.Job) + " PATH prints a file")
	}
	for _, why := range v.LeftOut {
		c.Note("not applied: " + why)
	}
	if v.NotCopied != "" {
		c.Note("not copied for the job: " + v.NotCopied)
	}
	switch v.State {
	case chela.CopyMade, chela.CopyUndone:
		if len(v.Files) > 0 {
			c.Note("chela jobs apply " + string(v.Job) + " changes the folder")
		}
	case chela.CopyApplied:
		c.Note("these changes were applied; chela jobs undo " + string(v.Job) + " takes them back")
	}
}

// jobCopy writes the state of the changes of a job.
func (c *commands) jobCopy(v chela.JobCopy) {
	files := 0
	for _, p := range v.Changes {
		if p.Kind != chela.PreimageFolder {
			files++
		}
	}
	c.Line(fmt.Sprintf("%s of job %s %s.", excerpt.Count(files, "changed file"), v.Job, v.State))
	if v.State == chela.CopyApplied {
		c.Note("chela jobs undo " + string(v.Job) + " takes them back")
	}
}
