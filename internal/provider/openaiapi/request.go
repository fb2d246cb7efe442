package openaiapi

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/openai/openai-go/v3/shared"

	"chela"
	"chela/internal/provider/wire"
)

// Effort returns a thinking level as the value of an effort: the same words but
// for off; see https://platform.openai.com/docs/guides/reasoning. It is empty
// for a level that leaves it to the model. A model that does not know a value,
// or does not reason, refuses it.
func Effort(level chela.ThinkingLevel) string {
	switch level {
	case chela.ThinkingOff:
		return string(shared.ReasoningEffortNone)
	case chela.ThinkingMinimal:
		return string(shared.ReasoningEffortMinimal)
	case chela.ThinkingLow:
		return string(shared.ReasoningEffortLow)
	case chela.ThinkingMedium:
		return string(shared.ReasoningEffortMedium)
	case chela.ThinkingHigh:
		return string(shared.ReasoningEffortHigh)
	case chela.ThinkingXHigh:
		return string(shared.ReasoningEffortXhigh)
	default:
		return ""
	}
}

// Fits reports whether a server takes a ref as the id of a call: up to 40
// printable characters.
func Fits(ref string) bool {
	for _, r := range ref {
		if r <= ' ' || r > '~' {
			return false
		}
	}
	return ref != "" && len(ref) <= 40
}

// AppendCacheKey appends the key, as a JSON string, by which requests of a
// session find their prompt cache again. A session key may name a person, and
// the field holds 64 bytes.
func AppendCacheKey(b []byte, session chela.SessionKey) []byte {
	sum := sha256.Sum256([]byte(session))
	b = append(b, '"')
	return append(hex.AppendEncode(b, sum[:16]), '"')
}

// AppendImage appends an image as a JSON string that holds a data URL.
func AppendImage(b []byte, image wire.Part) []byte {
	b = append(b, `"data:`...)
	b = append(b, image.MediaType...) // one of a few
	b = append(b, ";base64,"...)
	return append(base64.StdEncoding.AppendEncode(b, image.Image), '"')
}

// Schema returns the schema of a tool. It stays as it is but for blanks, so
// that equal tools make equal requests and prompt caches hit. One that is no
// object is an Invalid error.
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

// ReadDetails reads which tokens of a prompt came from a cache or went to one, and
// which of an answer were reasoning.
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
