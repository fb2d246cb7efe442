package vault

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"chela"
)

// KeySize is the length of a master key, in bytes.
const KeySize = 32

// format is the first byte of a sealed value.
const format = 1

// A Key is a master key. It is immutable.
type Key struct{ bytes [KeySize]byte }

// NewKey returns a random key.
func NewKey() (k Key) {
	_, _ = rand.Read(k.bytes[:]) // it never returns an error
	return k
}

// ParseKey reads a key as [Key.Text] or `openssl rand -base64 32` and
// `openssl rand -hex 32` write it. It returns [chela.Invalid], without the text.
func ParseKey(text string) (k Key, err error) {
	text = strings.TrimSpace(text)
	raw, err := hex.DecodeString(text)
	if err != nil {
		raw, err = base64.RawStdEncoding.DecodeString(strings.TrimRight(strings.NewReplacer("-", "+", "_", "/").Replace(text), "="))
	}
	if err != nil || len(raw) != KeySize {
		return Key{}, chela.E(chela.Invalid, "a master key is 32 bytes, written in base64 or as 64 hexadecimal digits").
			WithHint("make one with: openssl rand -base64 32")
	}
	copy(k.bytes[:], raw)
	return k, nil
}

// Text returns the key in base64.
func (k Key) Text() string { return base64.StdEncoding.EncodeToString(k.bytes[:]) }

// String hides the key from logs and errors.
func (k Key) String() string { return "a master key" }

// GoString hides the key too.
func (k Key) GoString() string { return k.String() }

// ID identifies a key without telling it: a secret records which key it is
// sealed with, so that the wrong key is reported as such.
func (k Key) ID() string {
	sum := sha256.Sum256(append([]byte("chela master key\x00"), k.bytes[:]...))
	return hex.EncodeToString(sum[:6])
}

// Seal returns value, sealed for a version of the secret with a name.
func (k Key) Seal(name string, version int, value []byte) ([]byte, error) {
	aead, err := k.aead(name, version)
	if err != nil {
		return nil, err
	}
	sealed := make([]byte, 1+aead.NonceSize(), 1+aead.NonceSize()+len(value)+aead.Overhead())
	sealed[0] = format
	_, _ = rand.Read(sealed[1:]) // it never returns an error
	return aead.Seal(sealed, sealed[1:], value, label(name, version)), nil
}

// Open returns the value that was sealed for a version of the secret with a
// name. It returns [chela.Denied] for another name, version or key, and for a
// value that was changed.
func (k Key) Open(name string, version int, sealed []byte) ([]byte, error) {
	aead, err := k.aead(name, version)
	if err != nil {
		return nil, err
	}
	if len(sealed) < 1+aead.NonceSize() || sealed[0] != format {
		return nil, chela.E(chela.Denied, fmt.Sprintf("the secret %s is not sealed in a form that this version knows", name))
	}
	nonce, text := sealed[1:1+aead.NonceSize()], sealed[1+aead.NonceSize():]
	value, err := aead.Open(nil, nonce, text, label(name, version))
	if err != nil {
		return nil, chela.E(chela.Denied, fmt.Sprintf("the secret %s cannot be opened: it was changed, or sealed with another master key", name)).
			WithHint("restore the master key of this home, or set the secret again: chela secrets set " + name)
	}
	return value, nil
}

func (k Key) aead(name string, version int) (cipher.AEAD, error) {
	key, err := hkdf.Key(sha256.New, k.bytes[:], []byte("chela vault"), string(label(name, version)), KeySize)
	if err != nil {
		return nil, fmt.Errorf("derive the key of secret %s: %w", name, err)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("make the cipher of secret %s: %w", name, err)
	}
	return cipher.NewGCM(block)
}

// label is unambiguous, since no name holds a NUL.
func label(name string, version int) []byte {
	return []byte(name + "\x00" + strconv.Itoa(version))
}
