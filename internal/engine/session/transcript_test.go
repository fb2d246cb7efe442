package session_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"chela"
	"chela/internal/api"
	"chela/internal/engine/prompt"
	"chela/internal/model/provider/openai"
	"chela/internal/store"
)

// A wire is a server of models that keeps what it is asked.
type wire struct {
	provider *openai.Provider
	asked    []byte
}

func newWire(t *testing.T) *wire {
	t.Helper()
	w := &wire{}
	server := httptest.NewServer(http.HandlerFunc(func(to http.ResponseWriter, r *http.Request) {
		w.asked, _ = io.ReadAll(r.Body)
		http.Error(to, "no", http.StatusBadRequest)
	}))
	t.Cleanup(server.Close)
	var err error
	if w.provider, err = openai.New(openai.Config{BaseURL: server.URL}); err != nil {
		t.Fatal(err)
	}
	return w
}

// request returns the bytes that a model is asked with when a thread goes on.
func (w *wire) request(ctx context.Context, r *room, id chela.ThreadID) ([]byte, error) {
	var c prompt.Conversation
	err := r.store.Read(ctx, func(read *store.Read) error {
		thread, err := read.Thread(ctx, id)
		if err != nil {
			return err
		}
		path, err := read.PromptPath(ctx, thread.Head)
		for _, e := range path {
			c = c.Append(e)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	w.asked = nil
	req := &chela.Request{Model: "m", System: "You are Ada.", Messages: c.Messages, Load: r.blobs.Load}
	for _, err := range w.provider.Stream(ctx, req) {
		if err != nil {
			break // whoever is asked here only keeps what it was asked
		}
	}
	if len(w.asked) == 0 {
		return nil, fmt.Errorf("the model was not asked")
	}
	return w.asked, nil
}

// TestTranscriptGivesTheSamePrompt takes random threads into another home, in
// both views and with all branches: the model is asked with the same bytes, also
// after it was written down once more.
func TestTranscriptGivesTheSamePrompt(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, s *store.Store) {
		from, to, w := newRoom(t, s), otherRoom(t), newWire(t)
		var files []chela.Attachment
		for name, content := range map[string]string{"a.png": "\x89PNG\r\n\x1a\n", "b.txt": "text", "empty.txt": ""} {
			a, err := from.blobs.Attach(t.Context(), name, strings.NewReader(content))
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, a)
		}
		n := 0
		rapid.Check(t, func(rt *rapid.T) {
			n++
			key := chela.Key{Kind: chela.KeyDirect, Agent: "main", ID: fmt.Sprint(n)}.Session()
			told := tell(rt, from.ids, key, files)
			if err := told.keep(t.Context(), from.store); err != nil {
				rt.Fatal(err)
			}
			want, err := w.request(t.Context(), from, told.thread.ID)
			if err != nil {
				rt.Fatal(err)
			}
			how := api.Export{Attachments: true, Compacted: rapid.Bool().Draw(rt, "compacted")}
			how.All = !how.Compacted && rapid.Bool().Draw(rt, "all")
			for range 2 {
				file := from.written(rt, told.thread.ID, how)
				done, err := to.Import(t.Context(), key, bytes.NewReader(file))
				if err != nil {
					rt.Fatalf("import: %v\n%s", err, file)
				}
				got, err := w.request(t.Context(), to, done.Thread)
				if err != nil || !bytes.Equal(want, got) {
					rt.Fatalf("the model is asked differently (-want +got), error %v:\n%s\n%s", err, cmp.Diff(string(want), string(got)), file)
				}
				again := to.written(rt, done.Thread, how)
				if diff := cmp.Diff(body(file), body(again)); diff != "" && !how.Compacted {
					rt.Fatalf("written again it differs (-want +got):\n%s", diff)
				}
			}
		})
	})
}

// fatal is a test that can fail.
type fatal interface{ Fatal(args ...any) }

// written returns a thread as it is written down.
func (r *room) written(t fatal, id chela.ThreadID, how api.Export) []byte {
	var file bytes.Buffer
	if err := r.Export(context.Background(), id, how, &file); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

// body is a file without its header, which is different in another home.
func body(file []byte) string {
	_, lines, _ := strings.Cut(string(file), "\n")
	return lines
}

// TestExportRefuses: what was left is not part of what a prompt can hold.
func TestExportRefuses(t *testing.T) {
	t.Parallel()
	r := otherRoom(t)
	thread := r.make(t, mainSession, noon)
	err := r.Export(t.Context(), thread.ID, api.Export{All: true, Compacted: true}, io.Discard)
	if chela.KindOf(err) != chela.Invalid {
		t.Errorf("all of what is compacted: %v", err)
	}
}
