package wire_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"testing"

	"chela/internal/model/provider/wire"
)

// TestBodyIsKeptWhileItIsRead: memory of a body is used again when its owner and all its
// readers are done, and a reader that was closed reads nothing.
func TestBodyIsKeptWhileItIsRead(t *testing.T) {
	t.Parallel()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://localhost", nil)
	if err != nil {
		t.Fatal(err)
	}
	body := wire.NewBody(append(wire.Scratch(100), "first"...))
	body.Attach(req)
	again, err := req.GetBody()
	if err != nil || req.ContentLength != 5 {
		t.Fatalf("length %d, %v", req.ContentLength, err)
	}
	body.Release()
	overwrite := func() {
		var all [][]byte
		for range 100 {
			b := wire.Scratch(1)
			all = append(all, append(b[:0], bytes.Repeat([]byte("x"), cap(b))...))
		}
		for _, b := range all {
			wire.NewBody(b).Release()
		}
	}
	for _, r := range []io.ReadCloser{req.Body, again} {
		overwrite()
		if got, err := io.ReadAll(r); err != nil || string(got) != "first" {
			t.Errorf("read %q, %v", got, err)
		}
		for range 2 {
			if err := r.Close(); err != nil {
				t.Error(err)
			}
		}
		if n, err := r.Read(make([]byte, 1)); n != 0 || err == nil {
			t.Errorf("read %d bytes after the end, %v", n, err)
		}
	}
}

// TestBodiesAreWhole: a server that answers before it reads gets each body whole, while
// others are sent.
func TestBodiesAreWhole(t *testing.T) {
	t.Parallel()
	var bad sync.Map
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := http.NewResponseController(w).EnableFullDuplex(); err != nil {
			t.Error(err)
		}
		w.WriteHeader(http.StatusOK)
		w.(http.Flusher).Flush()
		got, err := io.ReadAll(r.Body)
		size, _ := strconv.Atoi(r.Header.Get("Size"))
		if want := bytes.Repeat([]byte(r.Header.Get("Filler")), size); err == nil && !bytes.Equal(want, got) {
			bad.Store(r.Header.Get("Filler"), fmt.Sprintf("%d of %d bytes, beginning with %.20q", len(got), size, got))
		}
	}))
	t.Cleanup(server.Close)
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 16}}
	t.Cleanup(client.CloseIdleConnections)
	var all sync.WaitGroup
	for n := range 16 {
		filler := string(rune('a' + n))
		all.Go(func() {
			for i := range 30 {
				size := 50_000*(1+i%3) + n
				req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL, nil)
				if err != nil {
					t.Error(err)
					return
				}
				req.Header.Set("Filler", filler)
				req.Header.Set("Size", strconv.Itoa(size))
				body := wire.NewBody(append(wire.Scratch(size), bytes.Repeat([]byte(filler), size)...))
				body.Attach(req)
				res, err := client.Do(req)
				body.Release()
				if err != nil {
					t.Error(err)
					return
				}
				if i%2 == 0 { // the others are cut off
					_, _ = io.Copy(io.Discard, res.Body)
				}
				_ = res.Body.Close()
			}
		})
	}
	all.Wait()
	bad.Range(func(filler, what any) bool {
		t.Errorf("body of %v: %v", filler, what)
		return true
	})
}
