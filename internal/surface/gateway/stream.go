package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
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
	s.begin()
	for s.tell(sub.Cursor()) == nil {
		told, err := s.pass(ctx, sub)
		if err != nil || !told {
			return nil // the reader is gone, or reconnects with its last cursor
		}
	}
	return nil
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

func (s *stream) begin() {
	h := s.Header()
	h["Content-Type"] = []string{api.Stream}
	h["X-Accel-Buffering"] = []string{"no"} // disables the buffering of nginx-like proxies
	s.WriteHeader(http.StatusOK)
}

// tell sends the newest cursor delivered, as a keep-alive.
func (s *stream) tell(at chela.Cursor) error {
	line := ": alive\n\n"
	if at != "" && at != s.cursor {
		s.cursor = at
		line = "id: " + string(at) + "\n" + line
	}
	if _, err := s.Write([]byte(line)); err != nil {
		return err
	}
	return s.FlushError()
}

// pass sends events until the next keep-alive is due. It reports false at the
// end of the subscription.
func (s *stream) pass(ctx context.Context, sub *event.Subscription) (bool, error) {
	beat, cancel := context.WithTimeout(ctx, s.Heartbeat())
	defer cancel()
	for {
		e, ok := sub.Next(beat)
		if !ok {
			return ctx.Err() == nil && beat.Err() != nil, nil
		}
		if err := s.write(e); err != nil {
			return false, err
		}
		if err := s.FlushError(); err != nil {
			return false, err
		}
	}
}

func (s *stream) write(e chela.Event) error {
	raw, err := s.gateway.frames.of(e)
	if err != nil {
		return err
	}
	if e.Cursor != "" {
		s.cursor = e.Cursor
	}
	_, err = s.Write(raw)
	return err
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
	content, err := json.Marshal(e)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if e.Cursor != "" {
		b.WriteString("id: " + string(e.Cursor) + "\n")
	}
	b.WriteString("event: " + string(e.Kind) + "\ndata: ")
	b.Write(content)
	b.WriteString("\n\n")
	slot.Store(&frame{event: e, raw: b.Bytes()})
	return b.Bytes(), nil
}

// getLogs streams lines of the log.
func (g *Gateway) getLogs(v *edge.Visit) error {
	follow := v.Flag("follow")
	s := stream{Visit: v, gateway: g}
	s.begin()
	ctx, gone := context.WithCancelCause(v.Request.Context())
	defer gone(nil)
	err := g.cfg.Home.Logs(ctx, follow, func(line string) {
		content, err := json.Marshal(line)
		if err == nil {
			_, err = s.Write(append(append([]byte("event: log\ndata: "), content...), "\n\n"...))
		}
		if err = errors.Join(err, s.FlushError()); err != nil {
			gone(err)
		}
	})
	if ctx.Err() != nil {
		return nil // the reader is gone
	}
	return err
}
