package terminal

import (
	"context"
	"fmt"

	"chela"
	"chela/internal/api"
	"chela/internal/platform/lazyregexp"
)

// maxNoticeGroups is the most groups of notices that are printed at once.
const maxNoticeGroups = 10

// varying matches the parts in which notices of one cause differ: ids and numbers.
var varying = lazyregexp.New(`\b[a-z]+_[0-9a-z]{8,}\b|[0-9]+`)

// A noticeGroup holds notices that differ in ids and numbers alone.
type noticeGroup struct {
	ids    []chela.OutboxID
	first  chela.Outbound
	newest chela.Outbound
}

// groupNotices returns the groups of notices, in the order of their first ones.
func groupNotices(pending []chela.Outbound) (groups []*noticeGroup) {
	by := map[string]*noticeGroup{}
	for _, o := range pending {
		key := varying().ReplaceAllString(o.Text, "#")
		g := by[key]
		if g == nil {
			g = &noticeGroup{first: o}
			by[key] = g
			groups = append(groups, g)
		}
		g.ids, g.newest = append(g.ids, o.ID), o
	}
	return groups
}

// tellNotices prints the unread notices, and returns how many. Those of one cause are
// one line with their number. Where there are more than maxNoticeGroups, the oldest
// groups are counted and stay unread. A notice that could not be marked as
// read is printed again.
func (p *Person) tellNotices(ctx context.Context) int {
	pending, err := api.All(ctx, p, api.NoticesList, api.NoticeQuery{})
	if err != nil || len(pending) == 0 {
		return 0
	}
	groups := groupNotices(pending)
	if more := len(groups) - maxNoticeGroups; more > 0 {
		older := 0
		for _, g := range groups[:more] {
			older += len(g.ids)
		}
		p.Note(fmt.Sprintf("%d older notices of %d other kinds stay unread: chela notices lists them", older, more))
		groups = groups[more:]
	}
	var ids []chela.OutboxID
	for _, g := range groups {
		ids = append(ids, g.ids...)
		line := p.Moment(g.newest.CreatedAt) + "  " + g.newest.Text
		if n := len(g.ids); n > 1 {
			line += fmt.Sprintf("\n  (%d notices like this since %s)", n, p.Moment(g.first.CreatedAt))
		}
		p.Note(line)
	}
	if _, err := api.Call(ctx, p, api.NoticesSeen, api.NoticeIDs{IDs: ids}); err != nil {
		p.Note("these are told again: " + chela.MessageOf(err))
	}
	return len(pending)
}

// TryNotices pushes test messages, and prints how that went. The error says how many
// targets failed.
func (p *Person) TryNotices(ctx context.Context, q api.NotifyTest) error {
	page, err := api.Call(ctx, p, api.NotifyTry, q)
	if err != nil {
		return err
	}
	failed := 0
	for _, t := range page.Items {
		text := t.Text
		if t.Passed {
			text = fmt.Sprintf("delivered in %d ms", t.MS)
		} else {
			failed++
		}
		if !p.JSON {
			p.Finding(t.Passed, t.Target, text, t.Cure)
		}
	}
	if p.JSON {
		err = p.Document(page.Items)
	}
	if err == nil && failed > 0 {
		err = chela.Ef(chela.Unavailable, "%d of %d targets failed", failed, len(page.Items))
	}
	return err
}
