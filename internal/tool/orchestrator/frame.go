package orchestrator

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"sync"

	"chela"
	"chela/internal/tool/sandbox"
)

type raw = json.RawMessage

// maxFrame bounds a message, in bytes: the largest output, in which every byte is
// escaped.
const maxFrame = 6*sandbox.MaxOutput + 1<<20

// A frameWriter writes messages. It is safe for concurrent use.
type frameWriter struct {
	mu sync.Mutex
	to io.Writer // guarded by mu
}

// write writes one message.
func (w *frameWriter) write(v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if len(body) > maxFrame {
		return chela.Ef(chela.Exhausted, "a message of %d bytes is too large", len(body))
	}
	frame := binary.BigEndian.AppendUint32(make([]byte, 0, 4+len(body)), uint32(len(body)))
	frame = append(frame, body...)
	w.mu.Lock()
	defer w.mu.Unlock()
	_, err = w.to.Write(frame)
	return err
}

// readFrame reads one message. The memory of a message grows with the bytes that arrive, so
// that a length alone takes up none.
func readFrame(from io.Reader, v any) error {
	var size [4]byte
	if _, err := io.ReadFull(from, size[:]); err != nil {
		return err
	}
	n := binary.BigEndian.Uint32(size[:])
	if n > maxFrame {
		return fmt.Errorf("a message of %d bytes is too large", n)
	}
	body, err := io.ReadAll(io.LimitReader(from, int64(n)))
	if err == nil && len(body) < int(n) {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return err
	}
	return json.Unmarshal(body, v)
}
