package wire

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"slices"

	"chela"
	"chela/internal/model/provider"
)

// maxInputs is the number of inputs in one request for embeddings: as many as OpenAI
// accepts.
const maxInputs = 2048

// An EmbeddingRequest is a request for embeddings.
type EmbeddingRequest struct {
	Model   string
	Request provider.EmbeddingRequest
	Ignored []string // fields without effect

	base64 bool
}

// embeddingRequest is the body; see
// https://platform.openai.com/docs/api-reference/embeddings/create.
type embeddingRequest struct {
	Model      string          `json:"model"`
	Input      json.RawMessage `json:"input"`
	Format     string          `json:"encoding_format"`
	Dimensions *int            `json:"dimensions"`
	User       string          `json:"user"`
}

// Embedding reads a request for embeddings, as [Chat] reads one for a completion.
func Embedding(r *http.Request) (*EmbeddingRequest, error) {
	var asked embeddingRequest
	ignored, err := read(r, &asked)
	if err != nil {
		return nil, err
	}
	q := &EmbeddingRequest{
		Model: asked.Model, Request: provider.EmbeddingRequest{User: asked.User}, Ignored: ignored, base64: asked.Format == "base64",
	}
	switch {
	case asked.Model == "":
		return nil, Wrong("model", "is missing")
	case isNull(asked.Input):
		return nil, Wrong("input", "is missing")
	case asked.Format != "" && asked.Format != "float" && asked.Format != "base64":
		return nil, Wrong("encoding_format", "must be float or base64")
	case asked.Dimensions != nil && *asked.Dimensions < 1:
		return nil, Wrong("dimensions", "must be at least 1")
	case asked.Dimensions != nil:
		q.Request.Dimensions = *asked.Dimensions
	}
	return q, setInput(&q.Request, asked.Input)
}

// setInput sets the inputs: one text or a list of texts, or the token ids of one
// text or of several.
func setInput(r *provider.EmbeddingRequest, raw json.RawMessage) error {
	var text string
	var texts []string
	var ids []int64
	var lists [][]int64
	switch {
	case json.Unmarshal(raw, &text) == nil:
		r.Texts = []string{text}
	case json.Unmarshal(raw, &texts) == nil:
		r.Texts = texts
	case json.Unmarshal(raw, &ids) == nil:
		r.Tokens = [][]int64{ids}
	case json.Unmarshal(raw, &lists) == nil:
		r.Tokens = lists
	default:
		return Wrong("input", "must be a text, a list of texts, or a list of token ids or of such lists")
	}
	isNegative := func(id int64) bool { return id < 0 }
	switch {
	case r.Len() == 0:
		return Wrong("input", "is empty")
	case r.Len() > maxInputs:
		return Refuse("input", "array_above_max_length",
			chela.E(chela.Invalid, fmt.Sprintf("input has %d items, and %d are allowed", r.Len(), maxInputs)).WithHint("send it in parts"))
	}
	if i := slices.Index(r.Texts, ""); i >= 0 {
		return Wrong("input", fmt.Sprintf("item %d is empty", i))
	}
	if i := slices.IndexFunc(r.Tokens, func(ids []int64) bool { return len(ids) == 0 || slices.ContainsFunc(ids, isNegative) }); i >= 0 {
		return Wrong("input", fmt.Sprintf("item %d is empty or holds a negative token id", i))
	}
	return nil
}

// An embeddingList is the answer.
type embeddingList struct {
	Object string         `json:"object"`
	Data   []embeddingRow `json:"data"`
	Model  string         `json:"model"`
	Usage  embeddingUsage `json:"usage"`
	About  *About         `json:"chela,omitempty"`
}

type embeddingRow struct {
	Object    string `json:"object"`
	Index     int    `json:"index"`
	Embedding any    `json:"embedding"` // []float32, or the same in base64
}

type embeddingUsage struct {
	Prompt int64 `json:"prompt_tokens"`
	Total  int64 `json:"total_tokens"`
}

// Answer writes the embeddings in the encoding that the request asks for.
func (q *EmbeddingRequest) Answer(w http.ResponseWriter, a *provider.EmbeddingAnswer) {
	list := embeddingList{
		Object: "list", Model: q.Model, Data: make([]embeddingRow, len(a.Vectors)), Usage: embeddingUsage{Prompt: a.Tokens, Total: a.Tokens},
	}
	for i, vector := range a.Vectors {
		list.Data[i] = embeddingRow{Object: "embedding", Index: i, Embedding: vector}
		if q.base64 {
			list.Data[i].Embedding = inBase64(vector)
		}
	}
	if ignored := slices.Concat(q.Ignored, a.Ignored); len(ignored) > 0 {
		slices.Sort(ignored)
		list.About = &About{Ignored: ignored}
	}
	WriteJSON(w, list)
}

// inBase64 returns the little-endian float32 values of a vector in base64.
func inBase64(vector []float32) string {
	raw := make([]byte, 0, 4*len(vector))
	for _, f := range vector {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(f))
	}
	return base64.StdEncoding.EncodeToString(raw)
}
