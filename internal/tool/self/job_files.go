package self

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"chela"
	"chela/internal/api"
	"chela/internal/platform/excerpt"
	"chela/internal/tool"
)

const (
	maxFilePart   = 64 << 10 // bytes of a file in one result
	maxFilesShown = 500      // files in one list
)

type filesInput struct {
	JobID  string `json:"job_id" jsonschema:"id of the job"`
	Path   string `json:"path,omitempty" jsonschema:"file to read; without it all are listed"`
	Offset int    `json:"offset,omitempty" jsonschema:"byte of the file to begin at" min:"0"`
}

// files lists the files of a job, or returns the text of one. Both are as trustworthy
// as the job.
func (d jobTools) files(ctx context.Context, call tool.Call[filesInput]) (res chela.ToolResult, err error) {
	home, ref := d.jobs(call.ToolCall), jobRef(call.In.JobID)
	v, err := api.Call(ctx, home, api.JobsShow, ref)
	if err != nil {
		return res, err
	}
	if call.In.Path == "" {
		page, err := api.Call(ctx, home, api.JobsFiles, api.JobFilesQuery{JobRef: ref, Limit: maxFilesShown})
		res = tool.Done(fileLines(page))
		res.Provenance = v.Provenance
		return res, err
	}
	content, err := api.Call(ctx, home, api.JobsFile, api.JobFileRef{JobRef: ref, Path: call.In.Path})
	if err == nil {
		res = filePart(call.In, content)
	}
	res.Provenance = v.Provenance
	return res, err
}

// fileLines formats files, one per line.
func fileLines(page api.Page[api.JobFile]) string {
	if len(page.Items) == 0 {
		return "[the job has written no files]"
	}
	var b strings.Builder
	for _, f := range page.Items {
		fmt.Fprintf(&b, "%s  %d bytes  %s\n", oneLine(f.Path), f.Size, f.ModifiedAt.UTC().Format(time.RFC3339))
	}
	if page.Next != "" {
		b.WriteString("[there are more]\n")
	}
	return b.String()
}

// filePart returns the text of a file from an offset on.
func filePart(in filesInput, content []byte) chela.ToolResult {
	switch size := len(content); {
	case !utf8.Valid(content):
		return tool.Failed(fmt.Sprintf("%s is not text, %d bytes; its content is not shown", oneLine(in.Path), size))
	case size > 0 && in.Offset >= size:
		return tool.Failed(fmt.Sprintf("%s has %d bytes; use an offset below that", oneLine(in.Path), size))
	}
	rest := strings.ToValidUTF8(string(content[in.Offset:]), "")
	part := excerpt.Bytes(rest, maxFilePart)
	if len(part) < len(rest) {
		return tool.Done(fmt.Sprintf("%s\n[%d of %d bytes; go on with offset %d]", part, len(part), len(content), len(content)-len(rest)+len(part)))
	}
	return tool.Done(part)
}
