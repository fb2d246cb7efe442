package notice

import (
	"cmp"
	"context"
	"slices"
	"time"

	"chela"
	"chela/internal/store"
)

// terminal is where a notice is read if nobody was ever seen anywhere.
const terminal = "terminal"

// reachable reports whether people are told something at a place: chela is no
// person, and who asks by HTTP is not there any more.
func reachable(o chela.Origin) bool {
	return o.Channel != "" && o.Channel != "http" && o.Channel != chela.ChannelJob && o.Channel != chela.ChannelRoutine
}

// Place returns the place where the person of a routine is: where they made it, or
// else where they spoke in the main session of its agent last, or else the terminal.
func Place(ctx context.Context, r *store.Read, v chela.Routine) (chela.Origin, error) {
	at, ok, err := originOf(ctx, r, v.Origin, v.Session)
	if err == nil && !ok {
		at, ok, err = lastOf(ctx, r, chela.MainKey(v.Agent))
	}
	if err == nil && !ok {
		at = chela.Origin{Channel: terminal}
	}
	return at, err
}

// originOf returns an origin of a session, and whether the owner is there, whom nobody
// else followed.
func originOf(ctx context.Context, r *store.Read, o chela.Origin, in chela.SessionKey) (chela.Origin, bool, error) {
	if !o.Owner || !reachable(o) {
		return o, false, nil
	}
	last, owns, err := lastOf(ctx, r, in)
	return o, owns || here(last) != here(o), err
}

// lastOf returns where a session was spoken to last, and whether that was the owner at
// a place where he can be reached.
func lastOf(ctx context.Context, r *store.Read, key chela.SessionKey) (chela.Origin, bool, error) {
	s, err := r.Session(ctx, key)
	if chela.KindOf(err) == chela.NotFound {
		err = nil
	}
	last := s.Settings.Last
	return last, last.Owner && reachable(last), err
}

// placesOf returns where a notice goes, one at least.
func placesOf(ctx context.Context, r *store.Read, n Notice) ([]chela.Origin, error) {
	switch cmp.Or(n.Target, chela.TargetOrigin) {
	case chela.TargetExplicit:
		if to := (chela.Origin{Channel: n.Channel, To: n.To}); reachable(to) {
			return []chela.Origin{to}, nil
		}
		fallthrough
	case chela.TargetOrigin:
		at, ok, err := originOf(ctx, r, n.Origin, n.Session)
		if err != nil || ok {
			return []chela.Origin{at}, err
		}
		fallthrough
	case chela.TargetLast:
		at, ok, err := lastOf(ctx, r, chela.MainKey(n.Agent))
		if err != nil || ok {
			return []chela.Origin{at}, err
		}
	}
	all, err := seen(ctx, r)
	if err == nil && len(all) == 0 {
		all = []chela.Origin{{Channel: terminal}}
	}
	return all, err
}

// LastOn returns where the owner was last seen on a channel, and whether they ever
// were.
func LastOn(ctx context.Context, r *store.Read, channel string) (chela.Origin, bool, error) {
	all, err := seen(ctx, r)
	i := slices.IndexFunc(all, func(o chela.Origin) bool { return o.Channel == channel })
	if err != nil || i < 0 {
		return chela.Origin{}, false, err
	}
	return all[i], true, nil
}

// addressOf is a place without who spoke there.
func addressOf(o chela.Origin) chela.Origin {
	o.Sender, o.Owner = "", false
	return o
}

// here is a place, without how answers get there.
func here(o chela.Origin) chela.Origin {
	o = addressOf(o)
	o.ReplyBy = ""
	return o
}

// pageSize is how many sessions are read at once.
const pageSize = 500

// seen returns where the owner was last seen, on each channel.
func seen(ctx context.Context, r *store.Read) ([]chela.Origin, error) {
	type sighting struct {
		at    time.Time
		place chela.Origin
	}
	newest := map[string]sighting{}
	for after := chela.SessionKey(""); ; {
		page, err := r.Sessions(ctx, after, pageSize)
		if err != nil {
			return nil, err
		}
		for _, s := range page {
			after = s.Key
			last := s.Settings.Last
			if last.Owner && reachable(last) && s.UpdatedAt.After(newest[last.Channel].at) {
				newest[last.Channel] = sighting{s.UpdatedAt, last}
			}
		}
		if len(page) < pageSize {
			break
		}
	}
	var all []chela.Origin
	for _, at := range newest {
		all = append(all, at.place)
	}
	slices.SortFunc(all, func(a, b chela.Origin) int { return cmp.Compare(a.Channel, b.Channel) })
	return all, nil
}
