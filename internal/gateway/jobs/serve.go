package jobs

import (
	"cmp"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"chela"
	"chela/internal/api"
	"chela/internal/gateway/edge"
)

func (h Home) list(v *edge.Visit) error {
	rows, err := v.Rows()
	if err != nil {
		return err
	}
	f := api.JobFilter{
		Kind: chela.JobKind(v.Query.Get("kind")), Requester: chela.SessionKey(v.Query.Get("requester")),
		Before: chela.JobID(v.Query.Get("after")), Limit: rows,
	}
	if given := v.Query.Get("state"); given != "" {
		for name := range strings.SplitSeq(given, ",") {
			f.States = append(f.States, chela.JobState(name))
		}
	}
	if err := f.Check(); err != nil {
		return err
	}
	f.Limit++ // one more than asked for tells whether there is a next page
	found, err := h.Jobs(v.Request.Context(), f)
	if err != nil {
		return err
	}
	return v.OK(edge.Page(found, rows, func(j chela.Job) string { return string(j.ID) }))
}

func (h Home) create(v *edge.Visit) error {
	var q api.NewJob
	if err := v.Decode(&q); err != nil {
		return err
	}
	q.Agent, q.Key = cmp.Or(q.Agent, chela.MainAgent), v.Key(q.Key)
	j, err := h.Create(v.Request.Context(), q, v.Origin(), v.Who())
	if err != nil {
		return err
	}
	return v.Answer(http.StatusCreated, j)
}

func (h Home) show(v *edge.Visit) error {
	j, err := h.Job(v.Request.Context(), jobOf(v))
	if err != nil {
		return err
	}
	return v.OK(j)
}

func (h Home) events(v *edge.Visit) error {
	rows, err := v.Rows()
	if err != nil {
		return err
	}
	seen, err := v.Number("after", 0, math.MaxInt32)
	if err != nil {
		return err
	}
	events, err := h.Events(v.Request.Context(), jobOf(v), int(seen))
	if err != nil {
		return err
	}
	return v.OK(edge.Page(events, rows, func(e chela.JobEvent) string { return strconv.Itoa(e.Seq) }))
}

func (h Home) files(v *edge.Visit) error {
	rows, err := v.Rows()
	if err != nil {
		return err
	}
	files, err := h.Files(v.Request.Context(), jobOf(v))
	if err != nil {
		return err
	}
	if last := v.Query.Get("after"); last != "" {
		begin, found := slices.BinarySearchFunc(files, last, func(f api.JobFile, path string) int { return strings.Compare(f.Path, path) })
		if found {
			begin++
		}
		files = files[begin:]
	}
	return v.OK(edge.Page(files, rows, func(f api.JobFile) string { return f.Path }))
}

func (h Home) file(v *edge.Visit) error {
	path := v.Query.Get("path")
	if path == "" {
		return chela.E(chela.Invalid, "no file is named").WithHint("add ?path=")
	}
	content, err := h.File(v.Request.Context(), jobOf(v), path)
	if err != nil {
		return err
	}
	return v.Send(http.StatusOK, api.Bytes, content)
}
