package app

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"chela"
)

// maxBlob is the largest attachment, in bytes.
const maxBlob = 25 << 20

// unknownMedia is the media type of bytes of which nothing is known.
const unknownMedia = "application/octet-stream"

// blobs keeps the bytes of attachments, each once, in a file named by its hash.
type blobs struct{ dir string }

// put keeps content and returns what names it. The bytes are synced before it
// returns, so a message that names them can be committed.
func (b blobs) put(name string, content io.Reader) (chela.Attachment, error) {
	raw, err := io.ReadAll(io.LimitReader(content, maxBlob+1))
	if err != nil {
		return chela.Attachment{}, chela.E(chela.Unavailable, "the attachment cannot be read").Because(err)
	}
	if len(raw) > maxBlob {
		return chela.Attachment{}, chela.E(chela.Invalid, fmt.Sprintf("the attachment %s is larger than %d MiB", name, maxBlob>>20)).
			WithHint("send a smaller one, or put it into the workspace")
	}
	sum := sha256.Sum256(raw)
	a := chela.Attachment{
		Name: filepath.Base(name), MediaType: mediaType(name, raw), SHA256: hex.EncodeToString(sum[:]), Size: int64(len(raw)),
	}
	return a, b.write(a.SHA256, raw)
}

func (b blobs) write(name string, raw []byte) error {
	path := b.path(name)
	if st, err := os.Stat(path); err == nil && st.Size() == int64(len(raw)) {
		return nil
	}
	f, err := os.CreateTemp(b.dir, "new-*")
	if err != nil {
		return homeError(b.dir, err)
	}
	defer os.Remove(f.Name()) // gone already when all went well
	_, err = f.Write(raw)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return homeError(b.dir, err)
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return homeError(b.dir, err)
	}
	return syncDir(b.dir)
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return homeError(dir, err)
	}
	defer d.Close()
	if err := d.Sync(); err != nil {
		return homeError(dir, err)
	}
	return nil
}

// path is the file of the bytes that have a hash.
func (b blobs) path(sha256 string) string { return filepath.Join(b.dir, sha256) }

// isHash reports whether s is a hash as files are named by: 64 lower-case
// hexadecimal digits. Anything else must not become part of a path.
func isHash(s string) bool {
	return len(s) == 2*sha256.Size && strings.Trim(s, "0123456789abcdef") == ""
}

// kept returns the attachment whose bytes have a hash.
func (b blobs) kept(_ context.Context, name, mediaType, sha256 string) (chela.Attachment, error) {
	if !isHash(sha256) {
		return chela.Attachment{}, chela.E(chela.Invalid, "that is not the SHA-256 hash of a file").WithHint("write its 64 hexadecimal digits")
	}
	st, err := os.Stat(b.path(sha256))
	if err != nil {
		return chela.Attachment{}, chela.E(chela.NotFound, "no file with that hash was sent before").WithHint("send its content").Because(err)
	}
	return chela.Attachment{Name: cmp.Or(name, sha256[:12]), MediaType: cmp.Or(mediaType, unknownMedia), SHA256: sha256, Size: st.Size()}, nil
}

// load returns the bytes of an attachment.
func (b blobs) load(_ context.Context, a chela.Attachment) ([]byte, error) {
	if !isHash(a.SHA256) {
		return nil, chela.E(chela.Internal, "an attachment has no usable hash")
	}
	raw, err := os.ReadFile(b.path(a.SHA256))
	if err != nil {
		return nil, chela.E(chela.NotFound, "the bytes of attachment "+a.Name+" are gone").Because(err)
	}
	return raw, nil
}

// mediaType tells what content is: by its first bytes, and by its name where
// those only tell that it is text.
func mediaType(name string, raw []byte) string {
	found := http.DetectContentType(raw)
	if byName := mime.TypeByExtension(filepath.Ext(name)); byName != "" && (strings.HasPrefix(found, "text/plain") || found == unknownMedia) {
		found = byName
	}
	kind, _, err := mime.ParseMediaType(found)
	if err != nil {
		return unknownMedia
	}
	return kind
}
