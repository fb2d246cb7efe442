package file

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"chela"
	"chela/internal/tool"
	"chela/internal/tool/workspace"
)

//go:embed apply_patch.md
var patchDoc string

type patchInput struct {
	Path       string  `json:"path,omitempty" jsonschema:"the file to change; with old_string and new_string"`
	OldString  *string `json:"old_string,omitempty" jsonschema:"the text to replace, exactly as in the file"`
	NewString  *string `json:"new_string,omitempty" jsonschema:"the replacement"`
	ReplaceAll bool    `json:"replace_all,omitempty" jsonschema:"replace every occurrence of old_string"`
	Patch      string  `json:"patch,omitempty" jsonschema:"a unified diff of one or more files; without the other parameters"`
}

// applyPatch returns the tool that changes parts of files. An interrupted call
// is judged by the hashes of its files, which Prepare stores.
func applyPatch(cfg Config) chela.Tool {
	find := cfg.Workspace
	return tool.New(tool.Def[patchInput]{
		Name:     "apply_patch",
		Doc:      patchDoc,
		Judge:    judgePatch,
		Prepare:  preparing(find, preparePatch(cfg.Keep)),
		Happened: patchHappened(find),
		Run: within(find, func(ctx context.Context, ws *workspace.Workspace, call tool.Call[patchInput]) (chela.ToolResult, error) {
			var want intent
			if len(call.Intent) > 0 {
				var err error
				if want, err = decodeIntent(call.Intent); err != nil {
					return chela.ToolResult{}, err
				}
			}
			if want.Refused != "" {
				return tool.Failed(want.Refused), nil
			}
			p, err := makePlan(ctx, ws, call.In, nil)
			if err != nil {
				return planFailed(err)
			}
			if len(call.Intent) > 0 && !want.same(p.intent()) {
				return tool.Failed("the files changed while the patch was being prepared; read them again"), nil
			}
			if err := cfg.Quota.Write(ctx, ws, string(call.ID), p.changes()...); err != nil {
				return chela.ToolResult{}, err
			}
			return tool.Done(p.report()), nil
		}),
	})
}

// judgePatch names every file that the patch touches.
func judgePatch(in patchInput) chela.Judgement {
	j := chela.Judgement{Effect: chela.EffectWrite, Resume: chela.ResumeQuery, Preview: preview(in.Patch)}
	edits, err := readEdits(in)
	if err != nil {
		// The call will be refused; until then it gets no permission.
		j.Subjects, j.Exact = []string{workspace.Subject(in.Path)}, true
		return j
	}
	for _, e := range edits {
		for _, p := range []string{e.from, e.to} {
			if subject := workspace.Subject(p); p != "" && (len(j.Subjects) == 0 || j.Subjects[len(j.Subjects)-1] != subject) {
				j.Subjects = append(j.Subjects, subject)
			}
		}
	}
	if in.Patch == "" {
		path := workspace.Subject(in.Path)
		j.Preview = preview(udiff.Unified(path, path, wholeLine(*in.OldString), wholeLine(*in.NewString)))
	}
	return workspace.GuardObeyed(j, j.Subjects...)
}

// wholeLine ends text with a line end, so that a diff of parts of lines reads
// well.
func wholeLine(text string) string { return strings.TrimSuffix(text, "\n") + "\n" }

// An edit is the change of one file; paths are as the model wrote them.
type edit struct {
	from, to string // from is empty for a new file, to for a deleted one
	apply    func(content string) (string, error)
}

// readEdits returns the edits that in asks for; its error is written for the
// model.
func readEdits(in patchInput) ([]edit, error) {
	byStrings := in.Path != "" || in.OldString != nil || in.NewString != nil
	switch {
	case in.Patch != "" && byStrings:
		return nil, errors.New("give either patch, or path with old_string and new_string, not both")
	case in.Patch != "":
		return readDiff(in.Patch)
	case in.Path == "" || in.OldString == nil || in.NewString == nil:
		return nil, errors.New("give path, old_string and new_string, or a patch")
	case *in.OldString == "":
		return nil, errors.New("old_string is empty; use write_file to make a file")
	case *in.OldString == *in.NewString:
		return nil, errors.New("old_string and new_string are the same: nothing would change")
	}
	return []edit{{from: in.Path, to: in.Path, apply: func(content string) (string, error) {
		return replaceString(content, *in.OldString, *in.NewString, in.ReplaceAll)
	}}}, nil
}

func readDiff(diff string) ([]edit, error) {
	files, err := Parse(diff)
	if err != nil {
		return nil, err
	}
	var edits []edit
	for _, f := range files {
		edits = append(edits, edit{from: f.Old, to: f.New, apply: func(content string) (string, error) {
			if f.New == "" && len(f.Hunks) == 0 {
				return "", nil
			}
			return Apply(content, f.Hunks)
		}})
	}
	return edits, nil
}

// replaceString replaces old in content, once unless all is set. Line ends of
// a CRLF file may be written as plain ones.
func replaceString(content, old, new string, all bool) (string, error) {
	count := strings.Count(content, old)
	if crlf := strings.ReplaceAll(old, "\n", "\r\n"); count == 0 && !strings.Contains(old, "\r") && strings.Contains(content, crlf) {
		old, new = crlf, strings.ReplaceAll(strings.ReplaceAll(new, "\r\n", "\n"), "\n", "\r\n")
		count = strings.Count(content, old)
	}
	switch {
	case count == 0:
		msg := "old_string is not in the file"
		if near := Nearest(content, old); near != "" {
			msg += "; " + near
		}
		return "", errors.New(msg)
	case count > 1 && !all:
		return "", fmt.Errorf("old_string is in the file %d times, first in lines %s; add text around it, or set replace_all", count, linesOf(content, old))
	}
	return strings.ReplaceAll(content, old, new), nil
}

// linesOf returns the numbers of the first lines where old begins.
func linesOf(content, old string) string {
	const most = 5
	var numbers []string
	line, from := 1, 0
	for len(numbers) < most {
		i := strings.Index(content[from:], old)
		if i < 0 {
			break
		}
		line += strings.Count(content[from:from+i], "\n")
		numbers = append(numbers, fmt.Sprint(line))
		line += strings.Count(old, "\n")
		from += i + len(old)
	}
	return strings.Join(numbers, ", ")
}

// An intent records the purpose of a call before it runs: the SHA-256 of each
// file before and after, empty for a missing file. A patch that cannot be
// applied stores its refusal instead and is not retried: the files might fit by
// then, and written files could not be told from unwritten ones.
type intent struct {
	Files   []intentFile `json:"files,omitempty"`
	Text    string       `json:"text,omitempty"` // the result
	Refused string       `json:"refused,omitempty"`
}

type intentFile struct {
	Name   string `json:"name"`
	Before string `json:"before"`
	After  string `json:"after"`
}

func (i intent) same(o intent) bool {
	if len(i.Files) != len(o.Files) {
		return false
	}
	for n, f := range i.Files {
		if f != o.Files[n] {
			return false
		}
	}
	return true
}

func decodeIntent(raw json.RawMessage) (intent, error) {
	var i intent
	if err := json.Unmarshal(raw, &i); err != nil {
		return intent{}, chela.E(chela.Internal, "the intent of the call cannot be read").Because(err)
	}
	return i, nil
}

// hashOf returns the SHA-256 of a file's content, empty if there is no file.
func hashOf(content *string) string {
	if content == nil {
		return ""
	}
	sum := sha256.Sum256([]byte(*content))
	return hex.EncodeToString(sum[:])
}

// preparePatch stores the intent that Run and Happened need, and the pre-images
// of the files.
func preparePatch(keep workspace.KeepFunc) func(context.Context, *workspace.Workspace, tool.Call[patchInput]) (chela.Preparation, error) {
	return func(ctx context.Context, ws *workspace.Workspace, call tool.Call[patchInput]) (prepared chela.Preparation, err error) {
		var want intent
		p, err := makePlan(ctx, ws, call.In, nil)
		if err == nil {
			want = p.intent()
			prepared.Changes, err = p.preimages(ctx, ws, keep)
		}
		var r *refusal
		switch {
		case err == nil:
		case errors.As(err, &r):
			want, prepared.Changes = intent{Refused: r.result()}, nil
		case fault(err):
			return chela.Preparation{}, err
		default:
			want, prepared.Changes = intent{Refused: chela.MessageOf(err)}, nil
		}
		prepared.Intent, err = json.Marshal(want)
		return prepared, err
	}
}

// patchHappened tells from the files whether a call took effect. A partial
// effect is completed: each file is in its old or its new state, so the
// remaining work is certain.
func patchHappened(find workspace.Finder) func(context.Context, tool.Call[patchInput]) (*chela.ToolResult, error) {
	return func(ctx context.Context, call tool.Call[patchInput]) (*chela.ToolResult, error) {
		want, err := decodeIntent(call.Intent)
		if err != nil || want.Refused != "" {
			return nil, err // a refused patch changed nothing
		}
		ws, err := find.Open(workspace.OwnerOf(call.ToolCall))
		if err != nil {
			return nil, err
		}
		defer ws.Close() // nothing to lose: read only
		done, err := progress(ctx, ws, want)
		switch {
		case err != nil:
			return nil, err
		case len(done) == 0:
			return nil, nil
		case len(done) < len(want.Files):
			if err := finishPatch(ctx, ws, call, want, done); err != nil {
				return nil, err
			}
		}
		res := tool.Done(want.Text)
		return &res, nil
	}
}

// progress returns the files that already have their final state. A file that
// is in neither its old nor its final state is an error.
func progress(ctx context.Context, ws *workspace.Workspace, want intent) (map[string]bool, error) {
	done := map[string]bool{}
	for _, f := range want.Files {
		content, err := current(ctx, ws, f.Name)
		if err != nil {
			return nil, err
		}
		switch hashOf(content) {
		case f.After:
			done[f.Name] = true
		case f.Before:
		default:
			return nil, chela.E(chela.Conflict, workspace.Show(f.Name)+" was modified concurrently")
		}
	}
	return done, nil
}

// finishPatch applies the remaining changes of a call.
func finishPatch(ctx context.Context, ws *workspace.Workspace, call tool.Call[patchInput], want intent, done map[string]bool) error {
	p, err := makePlan(ctx, ws, call.In, done)
	if err != nil {
		return err
	}
	var left []workspace.Change
	for _, f := range want.Files {
		if done[f.Name] {
			continue
		}
		if f.After == "" {
			left = append(left, workspace.Change{Name: f.Name, Delete: true})
			continue
		}
		content := p.after[f.Name]
		if hashOf(content) != f.After {
			return chela.E(chela.Conflict, workspace.Show(f.Name)+" cannot be finished as it was begun")
		}
		left = append(left, workspace.Change{Name: f.Name, Content: []byte(*content)})
	}
	return ws.Write(ctx, string(call.ID), left...)
}
