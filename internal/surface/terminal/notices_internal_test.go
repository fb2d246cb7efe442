package terminal

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"chela"
	"chela/internal/api"
)

// unread is a home with unread notices.
type unread struct {
	home
	pending []chela.Outbound
	seen    int
}

func (u *unread) Do(ctx context.Context, r api.Request, out any) error {
	return api.Local{Operations: []api.Bound{
		api.NoticesList.Do(func(context.Context, api.Caller, api.NoticeQuery) (api.Page[chela.Outbound], error) {
			return api.Page[chela.Outbound]{Items: u.pending}, nil
		}),
		api.NoticesSeen.Do(func(_ context.Context, _ api.Caller, q api.NoticeIDs) (api.None, error) {
			u.seen += len(q.IDs)
			return api.None{}, nil
		}),
	}}.Do(ctx, r, out)
}

// TestNoticesAreGrouped prints notices that differ in ids and numbers once, and no more
// kinds than fit.
func TestNoticesAreGrouped(t *testing.T) {
	t.Parallel()
	u := &unread{}
	add := func(text string) {
		at := time.Date(2026, 5, 4, 9, len(u.pending), 0, 0, time.Local)
		u.pending = append(u.pending, chela.Outbound{ID: chela.OutboxID(fmt.Sprint("out_", len(u.pending))), Text: text, CreatedAt: at})
	}
	for i := range 40 {
		add(fmt.Sprintf("daily: failed %d times (run_06h1e00sy0qp%d)", i+1, i))
	}
	for _, word := range strings.Fields("one two three four five six seven eight nine ten") {
		add(word)
	}
	var errs bytes.Buffer
	p := &Person{Connection: Connect(u), Printer: NewPrinter(&bytes.Buffer{}, &errs)}
	if n := p.tellNotices(t.Context()); n != 50 || u.seen != 10 {
		t.Errorf("%d notices told, %d marked as read", n, u.seen)
	}
	if got := errs.String(); !strings.HasPrefix(got, "40 older notices of 1 other kinds stay unread: chela notices lists them\n") || strings.Count(got, "\n") != 11 {
		t.Errorf("eleven kinds are printed as\n%s", got)
	}
	u.pending = u.pending[:40]
	errs.Reset()
	p.tellNotices(t.Context())
	want := "2026-05-04 09:39:00 UTC  daily: failed 40 times (run_06h1e00sy0qp39)\n  (40 notices like this since 2026-05-04 09:00:00 UTC)\n"
	if got := errs.String(); got != want {
		t.Errorf("one kind is printed as %q, want %q", got, want)
	}
}
