package gateway

import (
	"context"
	"encoding/json"
	"fmt"
	"sync/atomic"

	"chela"
	"chela/internal/api"
	"chela/internal/platform/event"
	"chela/internal/surface/gateway/edge"
)

// getEvents streams events. A reader first gets the cursor to reconnect with,
// even before any event.
func (g *Gateway) getEvents(v *edge.Visit) error {
	ctx := v.Request.Context()
	sub, err := g.subscribe(ctx, filterOf(v.Query, v.Request.Header.Get("Last-Event-ID")))
	if err != nil {
		return err
	}
	defer sub.Close()
	s := stream{Visit: v, gateway: g}
	s.BeginEvents()
	for s.tell(sub.Cursor()) == nil && s.pass(ctx, sub) {
	}
	return nil // the reader is gone, or reconnects with its last cursor
}

// subscribe subscribes to events.
func (g *Gateway) subscribe(ctx context.Context, filter api.Filter) (*event.Subscription, error) {
	return g.cfg.Home.Events.Subscribe(ctx, event.Filter(filter))
}

// A stream writes server-sent events.
type stream struct {
	*edge.Visit
	gateway *Gateway
	cursor  chela.Cursor // the last cursor sent
}

// tell sends the newest cursor delivered, as a keep-alive.
func (s *stream) tell(at chela.Cursor) error {
	line := ": alive\n\n"
	if at != "" && at != s.cursor {
		s.cursor = at
		line = "id: " + string(at) + "\n" + line
	}
	return s.Emit([]byte(line))
}

// pass sends events until the next keep-alive is due. It reports false at the
// end of the subscription.
func (s *stream) pass(ctx context.Context, sub *event.Subscription) bool {
	beat, cancel := context.WithTimeout(ctx, s.Times().Heartbeat)
	defer cancel()
	for {
		e, ok := sub.Next(beat)
		if !ok {
			return ctx.Err() == nil && beat.Err() != nil
		}
		if s.show(e) != nil {
			return false
		}
	}
}

// show sends an event of the home.
func (s *stream) show(e chela.Event) error {
	raw, err := s.gateway.frames.of(e)
	if err != nil {
		return err
	}
	if e.Cursor != "" {
		s.cursor = e.Cursor
	}
	return s.Emit(raw)
}

// message sends an event that is none of the home.
func (s *stream) message(name string, content any) error {
	raw, err := encoded("", name, content)
	if err != nil {
		return err
	}
	return s.Emit(raw)
}

// encoded returns a server-sent event; its id may be empty.
func encoded(id chela.Cursor, name string, content any) ([]byte, error) {
	raw, err := json.Marshal(content)
	head := ""
	if id != "" {
		head = "id: " + string(id) + "\n"
	}
	return fmt.Appendf(nil, "%sevent: %s\ndata: %s\n\n", head, name, raw), err
}

// frames caches the encoding of the newest events, because many readers get the
// same ones. It is safe for concurrent use.
type frames struct {
	kept [64]atomic.Pointer[frame]
}

// A frame is the wire form of an event.
type frame struct {
	event chela.Event
	raw   []byte
}

// of returns the wire form of an event.
func (f *frames) of(e chela.Event) ([]byte, error) {
	slot := &f.kept[uint64(e.At.UnixMicro())%uint64(len(f.kept))] // any distribution will do
	if kept := slot.Load(); kept != nil && kept.event == e {
		return kept.raw, nil
	}
	raw, err := encoded(e.Cursor, string(e.Kind), e)
	if err != nil {
		return nil, err
	}
	slot.Store(&frame{event: e, raw: raw})
	return raw, nil
}

// getLogs streams lines of the log.
func (g *Gateway) getLogs(v *edge.Visit) error {
	s := stream{Visit: v, gateway: g}
	s.BeginEvents()
	ctx, gone := context.WithCancel(v.Request.Context())
	defer gone()
	err := g.cfg.Home.Logs(ctx, v.Flag("follow"), func(line string) {
		if s.message("log", line) != nil {
			gone()
		}
	})
	if ctx.Err() != nil {
		return nil // the reader is gone
	}
	return err
}
