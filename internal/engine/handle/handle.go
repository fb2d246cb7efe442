// Package handle resolves the short handles by which people name records: "last", the
// beginning of an id, with or without the prefix of its kind, and its end, with or
// without "#".
//
// Operations resolve them once, where they are carried out, so every surface has them.
// An id that exists is itself, and a handle that fits nothing stays as it is, so that
// the operation says what does not exist.
package handle

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"chela"
	"chela/internal/api"
	"chela/internal/store"
)

// Last is the handle of the record that was made or used last. Of approvals it is the
// pending one that was asked last.
const Last = "last"

// Limits of handles, in characters.
const (
	idLen  = 20 // of an id behind its prefix
	minEnd = 4  // of the end of an id, and of a handle that is not only looked at
)

// The prefixes of ids that are treated in their own way.
const (
	routines  = "rtn_" // have names of their own
	approvals = "apr_" // the last one may be another one than the person has read
)

// maxShown is how many candidates an error lists.
const maxShown = 5

// Operations returns operations that resolve handles in their paths. Handles are for
// people: the calls of an agent and commands in a group must name whole ids, since
// what fits a handle there may be the business of another session.
func Operations(s *store.Store, all []api.Bound) []api.Bound {
	resolved := make([]api.Bound, len(all))
	for i, b := range all {
		resolved[i] = b
		prefixes := b.Handles()
		if len(prefixes) == 0 {
			continue
		}
		resolved[i].Serve = func(ctx context.Context, c api.Caller, args api.Arguments) (any, error) {
			if !forPeople(c) {
				return b.Serve(ctx, c, args)
			}
			path, ids := args.Path, map[string]string{}
			for name, prefix := range prefixes {
				if prefix == approvals && b.Method != http.MethodGet && path(name) == Last {
					return nil, chela.E(chela.Invalid, "an answer must name its approval").WithHint("show the approval first, and answer it by its id")
				}
				if b.Method != http.MethodGet && path(name) != Last && len(form(prefix, path(name))) < minEnd {
					continue // a slip of the finger must not change or delete something
				}
				id, err := resolve(ctx, s, prefix, path(name))
				if err != nil {
					return nil, err
				}
				ids[name] = id
			}
			args.Path = func(name string) string {
				if id, ok := ids[name]; ok {
					return id
				}
				return path(name)
			}
			return b.Serve(ctx, c, args)
		}
	}
	return resolved
}

// forPeople reports whether a caller may use handles.
func forPeople(c api.Caller) bool {
	key, err := chela.ParseSessionKey(c.Session)
	return c.Agent == "" && (err != nil || !key.IsGroup())
}

// resolve returns the id that a handle names among the records in the store.
func resolve(ctx context.Context, s *store.Store, prefix, given string) (string, error) {
	if rest, ok := strings.CutPrefix(given, prefix); ok && len(rest) == idLen || !isHandle(prefix, given) {
		return given, nil
	}
	if prefix == routines {
		known, err := store.Find(ctx, s, func(r *store.Read) (is bool, err error) {
			_, is, err = r.RoutineNamed(ctx, given)
			return is, err
		})
		if known || err != nil {
			return given, err
		}
	}
	form := form(prefix, given)
	var found []store.Named
	for _, like := range []string{prefix + form + "%", "%" + form} {
		if len(form) < minEnd && like[0] == '%' || strings.HasPrefix(given, "#") && like[0] != '%' {
			continue
		}
		limit := maxShown + 1
		if form == "" {
			limit = 1
		}
		var err error
		found, err = store.Find(ctx, s, func(r *store.Read) ([]store.Named, error) { return r.Named(ctx, prefix, like, limit) })
		if err != nil || len(found) > 0 {
			return choose(prefix, given, found, err)
		}
	}
	return given, nil
}

// Match returns the id that a handle names among records, the last of which comes
// first, and the handle itself if none fits. Several are a Conflict.
func Match(prefix, given string, all []store.Named) (string, error) {
	if !isHandle(prefix, given) {
		return given, nil
	}
	form := form(prefix, given)
	begins := func(n store.Named) bool {
		return !strings.HasPrefix(given, "#") && strings.HasPrefix(n.ID, prefix+form)
	}
	ends := func(n store.Named) bool { return len(form) >= minEnd && strings.HasSuffix(n.ID, form) }
	for _, fits := range []func(store.Named) bool{begins, ends} {
		var found []store.Named
		for _, n := range all {
			if fits(n) {
				found = append(found, n)
			}
		}
		if len(found) > 0 {
			if form == "" {
				found = found[:1]
			}
			return choose(prefix, given, found, nil)
		}
	}
	return given, nil
}

// choose returns the only record found, or the one with the id that was given.
func choose(prefix, given string, found []store.Named, err error) (string, error) {
	if err != nil {
		return given, err
	}
	if len(found) == 1 {
		return found[0].ID, nil
	}
	var shown []string
	for i, n := range found {
		switch {
		case n.ID == given:
			return given, nil
		case i < maxShown:
			shown = append(shown, strings.TrimSpace(n.ID+" "+n.Name))
		default:
			shown = append(shown, "and more")
		}
	}
	return given, chela.E(chela.Conflict, fmt.Sprintf("%q fits several of them: %s", given, strings.Join(shown, ", "))).
		WithHint("write more of the id of the one that you mean, such as " + strings.TrimPrefix(found[0].ID, prefix))
}

// isHandle reports whether a text has the form of a handle or of an id.
func isHandle(prefix, given string) bool {
	rest := form(prefix, given)
	return rest == "" && given == Last || rest != "" && strings.Trim(rest, "0123456789abcdefghijklmnopqrstuvwxyz") == ""
}

// form returns the characters of the id that a handle gives; none for Last.
func form(prefix, given string) string {
	if given == Last {
		return ""
	}
	return strings.TrimPrefix(strings.TrimPrefix(strings.ToLower(given), "#"), prefix)
}
