package tool

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Canonical returns args in the canonical form that all equal arguments share:
// keys sorted, no spaces, the text of numbers kept. Arguments that are not JSON
// are returned unchanged.
func Canonical(args json.RawMessage) json.RawMessage {
	v, err := decodeJSON(args)
	if err != nil {
		return args
	}
	return encode(v, 0)
}

// Hash returns the SHA-256 of a tool's name and its canonical arguments, in
// hex. An approval is bound to this hash.
func Hash(tool string, args json.RawMessage) string {
	h := sha256.New()
	h.Write([]byte(tool))
	h.Write([]byte{0}) // names cannot contain it, so name and arguments stay unambiguous
	h.Write(Canonical(args))
	return hex.EncodeToString(h.Sum(nil))
}

// decodeJSON reads one JSON value and keeps the text of numbers.
func decodeJSON(text []byte) (any, error) {
	v, _, err := decodeNext(text)
	return v, err
}

// decodeNext is decodeJSON, and returns the offset up to which it has read.
func decodeNext(text []byte) (v any, at int64, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, int64(len(text)), errors.New("the JSON ends too early")
		}
		return nil, d.InputOffset(), err
	}
	at = d.InputOffset()
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, at, errors.New("there is more after the JSON value")
	}
	return v, at, nil
}

// decodeModest is decodeJSON, and refuses numbers that are too long to calculate
// with.
func decodeModest(text []byte) (any, error) {
	v, err := decodeJSON(text)
	if err == nil {
		err = checkNumbers(v)
	}
	return v, err
}

// encode writes a decoded value as JSON with sorted keys and numbers as they
// came: in canonical form, or indented by a number of spaces.
func encode(v any, indent int) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", strings.Repeat(" ", indent))
	if err := e.Encode(v); err != nil {
		// v was made by decodeJSON, so encoding it cannot fail.
		panic(fmt.Sprintf("encode decoded JSON: %v", err))
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// maxDigits is the longest number accepted. Longer ones, and those beyond the
// range of a float64, are refused: arithmetic on 1e999999999 would exhaust
// memory.
const maxDigits = 1000

// checkNumbers returns an error if v holds a number that is too long to
// calculate with.
func checkNumbers(v any) error {
	switch v := v.(type) {
	case json.Number:
		if !modest(v) {
			return fmt.Errorf("the number %s is out of range", quote(v.String()))
		}
	case []any:
		for _, item := range v {
			if err := checkNumbers(item); err != nil {
				return err
			}
		}
	case map[string]any:
		for _, item := range v {
			if err := checkNumbers(item); err != nil {
				return err
			}
		}
	}
	return nil
}

func modest(n json.Number) bool {
	if len(n) > maxDigits {
		return false
	}
	// Underflow to zero has a huge exponent, but no error.
	if _, exponent, found := strings.Cut(strings.ToLower(n.String()), "e"); found {
		if e, err := strconv.Atoi(exponent); err != nil || e < -maxDigits {
			return false
		}
	}
	_, err := n.Float64()
	return err == nil
}
