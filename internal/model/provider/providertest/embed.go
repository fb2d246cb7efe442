package providertest

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
)

// Vector returns the embedding that every server for tests gives a text: its number
// of bytes, a fraction that float32 rounds, and a negative number, cut to dimensions
// unless that is 0.
func Vector(text string, dimensions int) []float32 {
	vector := []float32{float32(len(text)), 0.1, -0.25}
	if dimensions > 0 {
		vector = vector[:min(dimensions, len(vector))]
	}
	return vector
}

// Embedded is the usage of a request for embeddings: a token for each byte.
func Embedded(texts []string) int { return len(strings.Join(texts, "")) }

// DecodeEmbed reads the body of a request for embeddings. Fields that into does not
// have, and empty texts in the result of texts, are errors, as for the real servers.
func DecodeEmbed(body []byte, into any, texts func() []string) ([]string, error) {
	dec := json.NewDecoder(strings.NewReader(string(body)))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return nil, err
	}
	found := texts()
	if len(found) == 0 || slices.Contains(found, "") {
		return nil, errors.New("an input is empty")
	}
	return found, nil
}

// orEmbed returns a handler that answers requests for embeddings, and leaves others
// to next.
func (s *server) orEmbed(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.protocol.Embed == nil || r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, s.protocol.Embeds) {
			next.ServeHTTP(w, r)
			return
		}
		s.embed(w, r)
	})
}

func (s *server) embed(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the caller is gone
	}
	texts, answer, err := s.protocol.Embed(r, body)
	if err != nil {
		s.t.Errorf("the server refuses the request: %v", err)
		status, refusal := s.protocol.Refuse(FaultRefused)
		reply(w, status, refusal)
		return
	}
	s.c.Record(ReceivedRequest{Plain: true, Texts: texts})
	if a := s.c.Answer(int(s.requests.Add(1)) - 1); a.Fault.Refuses() {
		s.refuse(w, a)
		return
	}
	reply(w, http.StatusOK, answer)
}
