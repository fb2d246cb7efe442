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

// Place returns the place where the agent's person is: the one that is given, or
// else where the main session was last spoken to, or else the terminal.
func Place(ctx context.Context, r *store.Read, agent string, given chela.Origin) (chela.Origin, error) {
	if reachable(given) {
		return given, nil
	}
	last, err := lastOf(ctx, r, agent)
	if err != nil || reachable(last) {
		return last, err
	}
	return chela.Origin{Channel: terminal}, nil
}

func lastOf(ctx context.Context, r *store.Read, agent string) (chela.Origin, error) {
	s, err := r.Session(ctx, chela.MainKey(agent))
	if chela.KindOf(err) == chela.NotFound {
		err = nil
	}
	return s.Settings.Last, err
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
		if reachable(n.Origin) {
			return []chela.Origin{addressOf(n.Origin)}, nil
		}
		fallthrough
	case chela.TargetLast:
		last, err := lastOf(ctx, r, n.Agent)
		if err != nil || reachable(last) {
			return []chela.Origin{addressOf(last)}, err
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
				newest[last.Channel] = sighting{s.UpdatedAt, addressOf(last)}
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
