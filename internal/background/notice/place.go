package notice

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"chela"
	"chela/internal/store"
)

// terminal is the channel of a notice if the owner was never seen on any other.
const terminal = "terminal"

// reachable reports whether a notice can be delivered to an origin: it is
// neither the system itself nor an HTTP request, whose client has gone.
func reachable(o chela.Origin) bool {
	return o.Channel != "" && o.Channel != "http" && o.Channel != chela.ChannelJob && o.Channel != chela.ChannelRoutine
}

// Place returns the address for the notices of a routine: the origin of its
// creation, else the last origin of the owner in the agent's main session, else
// the terminal.
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

// originOf returns an origin of a session, and whether a notice may go there:
// the owner is reachable there and was the last to speak.
func originOf(ctx context.Context, r *store.Read, o chela.Origin, in chela.SessionKey) (chela.Origin, bool, error) {
	if !o.Owner || !reachable(o) {
		return o, false, nil
	}
	last, owns, err := lastOf(ctx, r, in)
	return o, owns || here(last) != here(o), err
}

// lastOf returns the last origin of a session, and whether the owner is
// reachable there.
func lastOf(ctx context.Context, r *store.Read, key chela.SessionKey) (chela.Origin, bool, error) {
	s, err := store.IfFound(r.Session(ctx, key))
	last := s.Settings.Last
	return last, last.Owner && reachable(last), err
}

// placesOf returns the addresses of a notice, at least one.
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

// lastOn returns the owner's last origin on a channel, and whether there is
// one.
func lastOn(ctx context.Context, r *store.Read, channel string) (chela.Origin, bool, error) {
	all, err := seen(ctx, r)
	i := slices.IndexFunc(all, func(o chela.Origin) bool { return o.Channel == channel })
	if err != nil || i < 0 {
		return chela.Origin{}, false, err
	}
	return all[i], true, nil
}

// addressOf returns an origin without its sender and its chain.
func addressOf(o chela.Origin) chela.Origin {
	o.Sender, o.Owner, o.For = "", false, ""
	return o.Lasting()
}

// here returns an origin without its reply route.
func here(o chela.Origin) chela.Origin {
	o = addressOf(o)
	o.ReplyBy = ""
	return o
}

// pageSize is the number of sessions per read.
const pageSize = 500

// seen returns the owner's last origin on each channel.
func seen(ctx context.Context, r *store.Read) ([]chela.Origin, error) {
	newest := map[string]chela.Session{}
	for after := chela.SessionKey(""); ; {
		page, err := r.Sessions(ctx, after, pageSize)
		if err != nil {
			return nil, err
		}
		for _, s := range page {
			after = s.Key
			if last := s.Settings.Last; last.Owner && reachable(last) && s.UpdatedAt.After(newest[last.Channel].UpdatedAt) {
				newest[last.Channel] = s
			}
		}
		if len(page) < pageSize {
			break
		}
	}
	var all []chela.Origin
	for _, channel := range slices.Sorted(maps.Keys(newest)) {
		all = append(all, newest[channel].Settings.Last)
	}
	return all, nil
}
