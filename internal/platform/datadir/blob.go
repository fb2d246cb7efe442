package datadir

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"chela"
)

// maxAttachment is the largest attachment, in bytes.
const maxAttachment = 25 << 20

// unknownMedia is the media type of bytes of unknown type.
const unknownMedia = "application/octet-stream"

// Blobs is a content-addressed store of the bytes that the journal references:
// attachments, and the pre-images of files. Each content is stored once, in a file
// named after its SHA-256. It is safe for concurrent use by goroutines and
// processes.
type Blobs struct {
	dir string
}

// NewBlobs returns the blobs in dir, a folder that exists.
func NewBlobs(dir string) *Blobs { return &Blobs{dir: dir} }

// Keep stores content and returns its SHA-256, in lower-case hexadecimal. The
// bytes are synced before it returns, so a reference to them can be committed.
func (s *Blobs) Keep(_ context.Context, content []byte) (string, error) {
	sum := sha256.Sum256(content)
	name := hex.EncodeToString(sum[:])
	return name, s.write(name, content)
}

// Bytes returns the content with a hash, or NotFound if there is none. Content
// that cannot be read now is Unavailable.
func (s *Blobs) Bytes(_ context.Context, sha256 string) ([]byte, error) {
	if !isHash(sha256) {
		return nil, chela.E(chela.Internal, "a blob has no usable hash")
	}
	raw, err := os.ReadFile(s.path(sha256))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, chela.E(chela.NotFound, "the bytes of "+sha256+" are gone").Because(err)
	}
	return raw, unreadable(err)
}

// Attach stores an attachment and returns its reference.
func (s *Blobs) Attach(ctx context.Context, name string, content io.Reader) (chela.Attachment, error) {
	raw, err := io.ReadAll(io.LimitReader(content, maxAttachment+1))
	if err != nil {
		return chela.Attachment{}, chela.E(chela.Unavailable, "the attachment cannot be read").Because(err)
	}
	if len(raw) > maxAttachment {
		return chela.Attachment{}, chela.Ef(chela.Invalid, "the attachment %s is larger than %d MiB", name, maxAttachment>>20).
			WithHint("send a smaller one, or put it into the workspace")
	}
	hash, err := s.Keep(ctx, raw)
	return chela.Attachment{
		Name: filepath.Base(name), MediaType: mediaType(name, raw), SHA256: hash, Size: int64(len(raw)),
	}, err
}

// Kept returns the attachment with a hash. A malformed hash is Invalid, an
// unknown one NotFound.
func (s *Blobs) Kept(_ context.Context, name, mediaType, sha256 string) (chela.Attachment, error) {
	if !isHash(sha256) {
		return chela.Attachment{}, chela.E(chela.Invalid, "that is not the SHA-256 hash of a file").WithHint("write its 64 hexadecimal digits")
	}
	st, err := os.Stat(s.path(sha256))
	if errors.Is(err, fs.ErrNotExist) {
		return chela.Attachment{}, chela.E(chela.NotFound, "no file with that hash was sent before").WithHint("send its content").Because(err)
	}
	if err != nil {
		return chela.Attachment{}, unreadable(err)
	}
	return chela.Attachment{Name: cmp.Or(name, sha256[:12]), MediaType: cmp.Or(mediaType, unknownMedia), SHA256: sha256, Size: st.Size()}, nil
}

// unreadable is the error for content that exists and cannot be read.
func unreadable(err error) error {
	if err == nil {
		return nil
	}
	return chela.E(chela.Unavailable, "the folder of kept files cannot be read").WithHint("see chela doctor").Because(err)
}

// Load returns the bytes of an attachment.
func (s *Blobs) Load(ctx context.Context, a chela.Attachment) ([]byte, error) {
	raw, err := s.Bytes(ctx, a.SHA256)
	if chela.KindOf(err) == chela.NotFound {
		err = chela.E(chela.NotFound, "the bytes of attachment "+a.Name+" are gone").Because(err)
	}
	return raw, err
}

func (s *Blobs) write(name string, raw []byte) error {
	path := s.path(name)
	if st, err := os.Stat(path); err == nil && st.Size() == int64(len(raw)) {
		return s.sync() // another writer may not have finished
	}
	if err := Replace(path, raw); err != nil {
		return Trouble(s.dir, err)
	}
	return nil
}

// sync syncs the folder, so that the name of a new file survives a power
// failure.
func (s *Blobs) sync() error {
	if err := SyncDir(s.dir); err != nil {
		return Trouble(s.dir, err)
	}
	return nil
}

// path is the file of the bytes with a hash.
func (s *Blobs) path(sha256 string) string { return filepath.Join(s.dir, sha256) }

// isHash reports whether s has the form of a file's hash: 64 lower-case
// hexadecimal digits. Anything else must not become part of a path.
func isHash(s string) bool {
	return len(s) == 2*sha256.Size && strings.Trim(s, "0123456789abcdef") == ""
}

// mediaType sniffs the type of content by its first bytes, and by its name if
// those only indicate text.
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
