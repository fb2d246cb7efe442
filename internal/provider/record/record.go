package record

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"iter"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"chela"
)

// A Recorder writes requests and answers into a folder. It may be used by several
// goroutines, and several processes may write into one folder.
type Recorder struct {
	dir   string
	scrub *Scrubber
	now   func() time.Time
	log   *slog.Logger
}

// A RecorderConfig says how a recording is written. All fields are required.
type RecorderConfig struct {
	Scrub *Scrubber
	Now   func() time.Time
	Log   *slog.Logger
}

// NewRecorder returns a recorder that writes into a folder, which it makes for its
// owner alone. It is a Denied or Unavailable error if that cannot be.
func NewRecorder(dir string, cfg RecorderConfig) (*Recorder, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, unusable(dir, err)
	}
	probe, err := os.CreateTemp(dir, ".probe-*")
	if err != nil {
		return nil, unusable(dir, err)
	}
	if err := errors.Join(probe.Close(), os.Remove(probe.Name())); err != nil {
		return nil, unusable(dir, err)
	}
	return &Recorder{dir: dir, scrub: cfg.Scrub, now: cfg.Now, log: cfg.Log}, nil
}

func unusable(dir string, err error) error {
	kind := chela.Unavailable
	if errors.Is(err, fs.ErrPermission) {
		kind = chela.Denied
	}
	return chela.E(kind, "cannot use the recording in "+dir).WithHint("name a folder that is yours").Because(err)
}

// Record returns p with all that a model is asked by it, and all it answers,
// recorded. Model is provider/model. An answer that cannot be written down is
// passed on all the same, and the log says so: it was paid for.
func (r *Recorder) Record(p chela.Provider, model string) chela.Provider {
	return recorded{inner: p, model: model, recorder: r}
}

type recorded struct {
	inner    chela.Provider
	model    string
	recorder *Recorder
}

func (p recorded) Stream(ctx context.Context, req *chela.Request) iter.Seq2[chela.Chunk, error] {
	return func(yield func(chela.Chunk, error) bool) {
		x := exchange{Model: p.model}
		for chunk, err := range p.inner.Stream(ctx, req) {
			if err != nil && ctx.Err() == nil {
				x.Failure = failureOf(err)
			} else if err == nil {
				x.add(chunk)
			}
			if x.Finish != nil || x.Failure != nil {
				p.recorder.keep(req, &x)
			}
			if !yield(chunk, err) {
				return
			}
		}
	}
}

func (r *Recorder) keep(req *chela.Request, x *exchange) {
	if err := r.write(req, x); err != nil {
		r.log.Error("request not recorded", "model", x.Model, "error", err)
	}
}

// write writes one file. Its name begins with the time, so that names are in the
// order of the recording.
func (r *Recorder) write(req *chela.Request, x *exchange) error {
	clean, err := x.scrub(r.scrub)
	if err != nil {
		return err
	}
	if clean.Request, err = requestOf(req, r.scrub); err != nil {
		return err
	}
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false) // people read it
	enc.SetIndent("", "  ")
	if err := enc.Encode(clean); err != nil {
		return err
	}
	stem := filepath.Join(r.dir, r.now().UTC().Format("20060102-150405.000000")+"-"+clean.Request.hash()[:12])
	for n := 1; ; n++ {
		f, err := os.OpenFile(stem+"-"+strconv.Itoa(n)+".json", os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return err
		}
		_, err = f.Write(text.Bytes())
		return errors.Join(err, f.Close())
	}
}
