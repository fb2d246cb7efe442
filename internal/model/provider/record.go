package provider

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

// A Recorder writes requests and answers into a folder. It is safe for
// concurrent use, also by several processes on one folder.
type Recorder struct {
	dir   string
	scrub *Scrubber
	now   func() time.Time
	log   *slog.Logger
}

// A RecorderConfig holds the settings of a recorder. All fields are required.
type RecorderConfig struct {
	Scrub *Scrubber
	Now   func() time.Time
	Log   *slog.Logger
}

// NewRecorder returns a recorder that writes into a folder, which it creates
// with access for its owner alone. It returns Denied or Unavailable if that
// fails.
func NewRecorder(dir string, cfg RecorderConfig) (*Recorder, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, unusableRecording(dir, err)
	}
	probe, err := os.CreateTemp(dir, ".probe-*")
	if err != nil {
		return nil, unusableRecording(dir, err)
	}
	if err := errors.Join(probe.Close(), os.Remove(probe.Name())); err != nil {
		return nil, unusableRecording(dir, err)
	}
	return &Recorder{dir: dir, scrub: cfg.Scrub, now: cfg.Now, log: cfg.Log}, nil
}

func unusableRecording(dir string, err error) error {
	kind := chela.Unavailable
	if errors.Is(err, fs.ErrPermission) {
		kind = chela.Denied
	}
	return chela.E(kind, "cannot use the recording in "+dir).WithHint("use a folder that you own").Because(err)
}

// Record wraps p so that all requests for a model and their answers are
// recorded. Model is provider/model. A failed write is logged, and the answer
// passed on, as it was paid for.
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
		x := recordedExchange{Model: p.model}
		for chunk, err := range p.inner.Stream(ctx, req) {
			if err != nil && ctx.Err() == nil {
				x.Failure = recordedFailureOf(err)
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

func (r *Recorder) keep(req *chela.Request, x *recordedExchange) {
	if err := r.write(req, x); err != nil {
		r.log.Error("request not recorded", "model", x.Model, "error", err)
	}
}

// write writes one file. Its name begins with the time, so that names sort in
// recorded order.
func (r *Recorder) write(req *chela.Request, x *recordedExchange) error {
	clean, err := x.scrub(r.scrub)
	if err != nil {
		return err
	}
	if clean.Request, err = recordedRequestOf(req, r.scrub); err != nil {
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
