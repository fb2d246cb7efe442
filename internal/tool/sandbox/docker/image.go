package docker

import (
	"archive/tar"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/moby/moby/client"
)

// An imageOnce makes the image of this binary once.
type imageOnce struct {
	mu   sync.Mutex
	name string // empty until it exists
}

// imageFor returns the image of commands: the named one, or that of this binary,
// which is made if it does not exist.
func (e *engine) imageFor(ctx context.Context, named string) (string, error) {
	if named != "" {
		return named, nil
	}
	e.image.mu.Lock()
	defer e.image.mu.Unlock()
	if e.image.name != "" {
		return e.image.name, nil
	}
	self, err := os.Open("/proc/self/exe")
	if errors.Is(err, os.ErrNotExist) {
		var at string
		if at, err = os.Executable(); err == nil {
			self, err = os.Open(at)
		}
	}
	if err != nil {
		return "", fmt.Errorf("open this program: %w", err)
	}
	defer self.Close()
	sum := sha256.New()
	size, err := io.Copy(sum, self)
	if err != nil {
		return "", fmt.Errorf("read this program: %w", err)
	}
	name := "chela-sandbox:" + hex.EncodeToString(sum.Sum(nil)[:8])
	_, err = e.ImageInspect(ctx, name)
	if cerrdefs.IsNotFound(err) {
		err = e.importImage(ctx, name, io.NewSectionReader(self, 0, size))
	}
	if err != nil {
		return "", failed("make the image of the sandbox", err)
	}
	e.image.name = name
	return name, nil
}

// importImage makes an image with this binary, the files that name its users,
// and the places where directories are mounted.
func (e *engine) importImage(ctx context.Context, name string, binary *io.SectionReader) error {
	r, w := io.Pipe()
	go func() { // ends when the engine has read everything, or closes the pipe
		w.CloseWithError(writeImage(w, binary))
	}()
	resp, err := e.ImageImport(ctx, client.ImageImportSource{Source: r, SourceName: "-"}, name, client.ImageImportOptions{Changes: []string{"LABEL chela=sandbox"}})
	if err != nil {
		_ = r.CloseWithError(err) // ends the goroutine
		return err
	}
	return drain(resp)
}

func writeImage(w io.Writer, binary *io.SectionReader) error {
	t := tar.NewWriter(w)
	for _, dir := range []string{"tmp", "workspace", "etc", "run", "proc", "dev", "sys"} {
		if err := t.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: dir + "/", Mode: 0o755}); err != nil {
			return err
		}
	}
	for _, at := range hostPaths {
		if err := writeTarget(t, at); err != nil {
			return err
		}
	}
	for name, text := range map[string]string{
		"etc/passwd": "root:x:0:0:root:/workspace:/bin/sh\nchela:x:1000:1000:chela:/workspace:/bin/sh\n",
		"etc/group":  "root:x:0:\nchela:x:1000:\n",
	} {
		if err := writeFile(t, name, 0o644, section(text)); err != nil {
			return err
		}
	}
	if err := writeFile(t, "chela", 0o755, binary); err != nil {
		return err
	}
	return t.Close()
}

// writeTarget makes the place at which a path of the host is mounted, if the host
// has it.
func writeTarget(t *tar.Writer, at string) error {
	info, err := os.Stat(at)
	switch {
	case err != nil:
		return nil //nolint:nilerr // it is not mounted either
	case info.IsDir():
		return t.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: strings.TrimPrefix(at, "/") + "/", Mode: 0o755})
	default:
		return writeFile(t, strings.TrimPrefix(at, "/"), 0o644, section(""))
	}
}

// writeFile adds a file that everybody may read.
func writeFile(t *tar.Writer, name string, mode int64, content *io.SectionReader) error {
	if err := t.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: mode, Size: content.Size()}); err != nil {
		return err
	}
	_, err := io.Copy(t, content)
	return err
}

func section(text string) *io.SectionReader {
	return io.NewSectionReader(strings.NewReader(text), 0, int64(len(text)))
}
