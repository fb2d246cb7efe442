package openai

import (
	"context"
	"fmt"

	"chela"
	"chela/internal/surface/gateway/openai/wire"
)

// maxImages limits the images fetched for one request.
const maxImages = 16

// checkImages refuses a request that names more images to fetch than are fetched.
func checkImages(q *wire.Request) error {
	n := 0
	for _, s := range q.Said {
		for _, f := range s.Files {
			if f.URL == "" {
				continue
			}
			if n++; n > maxImages {
				return wire.Wrong(f.Param, fmt.Sprintf("is one of more than %d images to fetch; send images in data: URLs", maxImages))
			}
		}
	}
	return nil
}

// fetched returns a file with its content, which is fetched if the request
// holds only its address. An unavailable image is an Invalid error, as with
// OpenAI's servers.
func (a *API) fetched(ctx context.Context, f wire.File) (wire.File, error) {
	if f.URL == "" {
		return f, nil
	}
	kind, content, err := a.cfg.Image(ctx, f.URL)
	switch {
	case err != nil && ctx.Err() != nil:
		return f, ctx.Err()
	case err != nil && chela.KindOf(err) == chela.Internal:
		return f, err
	case err != nil:
		return f, wire.Refuse(f.Param, "invalid_image_url", chela.E(chela.Invalid, f.Param+": "+chela.MessageOf(err)))
	}
	return f.Fetched(kind, content), nil
}

// fetchAll fetches the images of a request for a bare model.
func (a *API) fetchAll(ctx context.Context, q *wire.Request) error {
	for _, s := range q.Said {
		for i := range s.Files {
			var err error
			if s.Files[i], err = a.fetched(ctx, s.Files[i]); err != nil {
				return err
			}
		}
	}
	return nil
}
