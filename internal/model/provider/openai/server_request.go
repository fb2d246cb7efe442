package openai

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"chela"
	"chela/internal/model/provider/wire"
)

// Effort returns a thinking level as an effort: the same words except for off;
// see https://platform.openai.com/docs/guides/reasoning. It is empty for the
// model's default. A model that does not support the value, or does not reason,
// rejects it.
func Effort(level chela.ThinkingLevel) string {
	switch level {
	case chela.ThinkingOff:
		return "none"
	case chela.ThinkingMinimal, chela.ThinkingLow, chela.ThinkingMedium, chela.ThinkingHigh, chela.ThinkingXHigh:
		return string(level)
	default:
		return ""
	}
}

// Fits reports whether a ref is accepted as a call id: up to 40 printable
// characters.
func Fits(ref string) bool {
	for _, r := range ref {
		if r <= ' ' || r > '~' {
			return false
		}
	}
	return ref != "" && len(ref) <= 40
}

// AppendCacheKey appends the prompt cache key of a session as a JSON string. It
// is a hash, since a session key may name a person and the field holds 64
// bytes.
func AppendCacheKey(b []byte, session chela.SessionKey) []byte {
	sum := sha256.Sum256([]byte(session))
	b = append(b, '"')
	return append(hex.AppendEncode(b, sum[:16]), '"')
}

// AppendImage appends an image as a JSON string with a data URL.
func AppendImage(b []byte, image wire.Part) []byte {
	b = append(b, `"data:`...)
	b = append(b, image.MediaType...) // from a fixed set
	b = append(b, ";base64,"...)
	return append(base64.StdEncoding.AppendEncode(b, image.Image), '"')
}

// Schema returns the compacted schema of a tool; nothing else changes, so that
// equal tools make equal requests and prompt caches hit. It returns Invalid if
// the schema is not an object.
func (s *Server) Schema(t chela.ToolSpec) ([]byte, error) {
	var compact bytes.Buffer
	err := json.Compact(&compact, t.Input)
	schema := bytes.ToValidUTF8(compact.Bytes(), []byte("\uFFFD"))
	switch {
	case string(schema) == "null": // no parameters
		return []byte("{}"), nil
	case err != nil || schema[0] != '{':
		return nil, s.Guard.Unsent(chela.Invalid, fmt.Sprintf("schema of tool %q is not a JSON object", t.Name))
	}
	return schema, nil
}

// ReadDetails reads the cached tokens of a prompt and the reasoning tokens of
// an answer.
func ReadDetails(u *chela.TokenUsage, details wire.Value) {
	for name, v := range details.Members() {
		switch name {
		case "cached_tokens":
			u.CacheRead = max(v.Int(), 0)
		case "cache_write_tokens":
			u.CacheWrite = max(v.Int(), 0)
		case "reasoning_tokens":
			u.Reasoning = max(v.Int(), 0)
		}
	}
}
