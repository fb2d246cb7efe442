// Package rewinds holds the routes that move a thread along its tree.
package rewinds

import (
	"context"
	"net/http"

	"chela"
	"chela/internal/api"
	"chela/internal/gateway/edge"
)

// A Home is what is served; see [rewind.Mover].
type Home struct {
	Rewind     func(ctx context.Context, id chela.ThreadID, kind chela.RewindKind, q api.Rewinding) (chela.Rewind, error)
	Checkpoint func(ctx context.Context, id chela.ThreadID, q api.NewCheckpoint) (chela.Checkpoint, error)
	Branch     func(ctx context.Context, id chela.ThreadID, q api.NewBranch) (chela.Thread, error)
	Places     func(ctx context.Context, id chela.ThreadID) (api.Places, error) // told with each thread
}

// Routes returns the routes of a home. Those that move a head wait for a running
// turn to end.
func Routes(h Home) []edge.Route {
	return []edge.Route{
		h.moving(chela.RewindUndo, "Undo the last turns of a thread"),
		h.moving(chela.RewindRedo, "Take back the last undo or restore of a thread"),
		h.moving(chela.RewindRestore, "Move a thread to a checkpoint, an entry or the end of a turn"),
		{
			Route: api.Route{
				Method: http.MethodPost, Path: "/api/threads/{id}/checkpoint", Scope: chela.ScopeChat, Summary: "Name the place where a thread is",
				Body: api.NewCheckpoint{}, BodyType: api.JSON, Answer: chela.Checkpoint{}, AnswerType: api.JSON, Status: http.StatusCreated,
			},
			Limit: api.MaxBody, Serve: h.checkpoint,
		},
		{
			Route: api.Route{
				Method: http.MethodPost, Path: "/api/threads/{id}/branch", Scope: chela.ScopeChat, Summary: "Begin a thread that branches off another one",
				Body: api.NewBranch{}, BodyType: api.JSON, Answer: chela.Thread{}, AnswerType: api.JSON, Status: http.StatusCreated,
			},
			Limit: api.MaxBody, Serve: h.branch,
		},
	}
}

// moving returns the route of one kind of rewinds.
func (h Home) moving(kind chela.RewindKind, summary string) edge.Route {
	return edge.Route{
		Route: api.Route{
			Method: http.MethodPost, Path: "/api/threads/{id}/" + string(kind), Scope: chela.ScopeChat, Summary: summary,
			Body: api.Rewinding{}, BodyType: api.JSON, Answer: chela.Rewind{}, AnswerType: api.JSON, Status: http.StatusOK,
		},
		Limit: api.MaxBody, Long: true,
		Serve: func(v *edge.Visit) error {
			var q api.Rewinding
			if err := v.Decode(&q); err != nil {
				return err
			}
			q.Key = v.Key(q.Key)
			r, err := h.Rewind(v.Request.Context(), threadOf(v), kind, q)
			if err != nil {
				return err
			}
			return v.OK(r)
		},
	}
}

func threadOf(v *edge.Visit) chela.ThreadID { return chela.ThreadID(v.Request.PathValue("id")) }

func (h Home) checkpoint(v *edge.Visit) error {
	var q api.NewCheckpoint
	if err := v.Decode(&q); err != nil {
		return err
	}
	q.Key = v.Key(q.Key)
	c, err := h.Checkpoint(v.Request.Context(), threadOf(v), q)
	if err != nil {
		return err
	}
	return v.Answer(http.StatusCreated, c)
}

func (h Home) branch(v *edge.Visit) error {
	var q api.NewBranch
	if err := v.Decode(&q); err != nil {
		return err
	}
	q.Key = v.Key(q.Key)
	t, err := h.Branch(v.Request.Context(), threadOf(v), q)
	if err != nil {
		return err
	}
	return v.Answer(http.StatusCreated, t)
}
