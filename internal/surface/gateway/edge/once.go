package edge

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"

	"chela"
	"chela/internal/api"
)

const (
	keyTime   = 24 * time.Hour   // lifetime of a key
	retryTime = 10 * time.Minute // how long a client's retry belongs to its first attempt
	maxKept   = 256 << 10        // bytes of a stored response
)

// retryHeader counts the attempts of OpenAI's clients, from 0.
const retryHeader = "X-Stainless-Retry-Count"

// requests stores keyed requests.
type requests interface {
	// Claim adds a request as running, or returns the one under its key. It
	// reports whether the caller must execute it. Fresh replaces an earlier
	// one.
	Claim(ctx context.Context, q chela.KeyedRequest, fresh bool) (found chela.KeyedRequest, claimed bool, err error)
	// Settle stores the response of a running request.
	Settle(ctx context.Context, q chela.KeyedRequest) error
}

// holders are the keyed requests executed in this process, by token and key.
type holders struct {
	mu   sync.Mutex
	held map[string]chan struct{} // guarded by mu; closed when the request ended
}

// enter waits until no other visit holds a key, and holds it until leave is called.
func (h *holders) enter(ctx context.Context, key string) (leave func(), err error) {
	for {
		h.mu.Lock()
		other, taken := h.held[key]
		if !taken {
			mine := make(chan struct{})
			h.held[key] = mine
			h.mu.Unlock()
			return func() {
				h.mu.Lock()
				delete(h.held, key)
				h.mu.Unlock()
				close(mine)
			}, nil
		}
		h.mu.Unlock()
		select {
		case <-other:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// A once is a visit whose request has a key.
type once struct {
	request  chela.KeyedRequest
	claimed  bool
	leave    func()       // releases the key, if the visit holds and settles it
	keep     bool         // its response is to be stored
	answer   bytes.Buffer // the response so far, up to the stored size
	overflow bool         // the response is larger
}

// record stores a part of the response.
func (o *once) record(p []byte) {
	if o == nil || o.leave == nil {
		return
	}
	if o.overflow = o.overflow || o.answer.Len()+len(p) > maxKept; !o.overflow {
		o.answer.Write(p)
	}
}

// perform serves a request, at most once if it has a key.
func (s *Server) perform(v *Visit, row *Route) error {
	if err := v.claim(row); err != nil {
		return err
	}
	if v.once == nil || row.Repeat == api.Joined {
		defer v.settle()
		return row.Serve(v)
	}
	answered, err := v.Alone()
	if answered || err != nil {
		return err
	}
	defer v.settle()
	err = row.Serve(v)
	v.once.keep = err == nil
	return err
}

// claim reads the key of a request, and claims it for an idempotent handler.
// [Visit.Alone] claims it for the others.
func (v *Visit) claim(row *Route) error {
	if v.server.cfg.Requests == nil || v.Request.Method != http.MethodPost || row.Scope == api.Public {
		return nil
	}
	h := v.Request.Header
	key, fresh, lasts := "key:"+h.Get(api.MessageIDHeader), false, keyTime
	isRetry := false
	if h.Get(api.MessageIDHeader) == "" {
		attempts, err := strconv.Atoi(h.Get(retryHeader))
		if err != nil || row.Repeat != api.Joined {
			return nil
		}
		isRetry, fresh, lasts = true, attempts == 0, retryTime
	}
	hash, err := v.hash(row)
	if err != nil {
		return err
	}
	if isRetry {
		key = "retry:" + hash
	}
	now := v.server.cfg.Now().UTC().Truncate(time.Microsecond)
	v.once = &once{request: chela.KeyedRequest{
		Token: v.By.Token.ID, Key: key, Hash: hash, State: chela.RequestRunning, CreatedAt: now, ExpiresAt: now.Add(lasts),
	}}
	if row.Repeat != api.Joined {
		return nil
	}
	return v.claimKey(fresh)
}

// claimKey claims the key of a request. Another request under the key is a Conflict.
func (v *Visit) claimKey(fresh bool) (err error) {
	o := v.once
	hash := o.request.Hash
	o.request, o.claimed, err = v.server.cfg.Requests.Claim(v.Request.Context(), o.request, fresh)
	if err == nil && o.request.Hash != hash {
		v.once = nil
		err = chela.E(chela.Conflict, "the "+api.MessageIDHeader+" was used for another request").WithHint("use a new key for each request")
	}
	return err
}

// hash returns the hash of a request's content, and leaves its body to be read.
func (v *Visit) hash(row *Route) (string, error) {
	sum := sha256.New()
	for _, part := range []string{v.Request.Method, v.Request.URL.RequestURI(), v.Request.Header.Get(api.SessionHeader)} {
		fmt.Fprintf(sum, "%d %s\n", len(part), part)
	}
	if v.body != nil && row.BodyType != "" {
		raw, err := v.Body()
		if err != nil {
			return "", err
		}
		v.Request.Body = io.NopCloser(bytes.NewReader(raw))
		sum.Write(raw)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// Once returns the idempotency key of a request's action, the same for every
// retry; empty without a key.
func (v *Visit) Once() string {
	if v.once == nil {
		return ""
	}
	q := v.once.request
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\n%s\n%s\n%d", q.Token, q.Key, q.Hash, q.CreatedAt.UnixMicro()))
	return "once-" + hex.EncodeToString(sum[:16])
}

// Alone ensures that a request with a key is not executed twice, also if the
// handler itself could not detect it: it waits for the same request, and
// replays its response. It reports whether it did. Otherwise the handler
// continues, and an idempotent handler reports with [Visit.Keep] that its
// response is complete. A request begun by a process that died is a Conflict,
// because its effect is unknown, unless the handler is idempotent.
func (v *Visit) Alone() (answered bool, err error) {
	o := v.once
	if o == nil {
		return false, nil
	}
	leave, err := v.server.holders.enter(v.Request.Context(), string(o.request.Token)+" "+o.request.Key)
	if err != nil {
		return false, err
	}
	if !o.claimed {
		err = v.claimKey(false)
	}
	if err == nil && !o.claimed {
		answered, err = v.repeat(o.request)
	}
	if err != nil || answered {
		leave()
		return answered, err
	}
	o.leave = leave
	return false, nil
}

// repeat replays the response of an earlier request.
func (v *Visit) repeat(q chela.KeyedRequest) (answered bool, err error) {
	switch q.State {
	case chela.RequestAnswered:
		v.once = nil
		v.Header().Set(api.RepeatedHeader, "true")
		if q.MediaType == "" {
			v.WriteHeader(q.Status)
			return true, nil
		}
		return true, v.Send(q.Status, q.MediaType, []byte(q.Answer))
	case chela.RequestSettled:
		return false, chela.E(chela.Conflict, "the request was carried out before, and its answer was not kept").
			WithHint("look at what it changed; use a new key for another request")
	default:
		if v.route.Repeat == api.Joined {
			return false, nil
		}
		return false, chela.E(chela.Conflict, "the request was begun before, and the process that did so has ended or is another one").
			WithHint("look at what it changed; use a new key to make it again")
	}
}

// Keep reports that the response is complete and may be replayed.
func (v *Visit) Keep() {
	if v.once != nil {
		v.once.keep = true
	}
}

// settleTime is the timeout of storing a response.
const settleTime = 5 * time.Second

// settle stores the response of a request with a key, if this visit executed
// it.
func (v *Visit) settle() {
	o := v.once
	if o == nil || o.leave == nil {
		return
	}
	defer o.leave()
	q := o.request
	switch {
	case !o.keep || v.status/100 != 2:
		q.State = chela.RequestFailed
	case o.overflow || v.route.Repeat == api.Secret:
		q.State = chela.RequestSettled
	default:
		q.State, q.Status, q.MediaType, q.Answer = chela.RequestAnswered, v.status, v.Header().Get("Content-Type"), o.answer.String()
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(v.Request.Context()), settleTime) // the client may be gone; this ends soon
	defer cancel()
	if err := v.server.cfg.Requests.Settle(ctx, q); err != nil {
		v.server.cfg.Log.Error("keyed request cannot be settled", "request", v.ID, "error", err)
	}
}
