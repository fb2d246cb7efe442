package agents

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"

	"chela/internal/config"
)

// maxIdentity limits a response that tells the program of a server.
const maxIdentity = 1 << 20

// A spoken protocol is that of a server of models.
type spoken struct {
	name string // of the provider in the catalogue; empty for an unknown server
	kind config.ProviderKind
	base string // where its API begins
}

// identify tells servers of models apart by their answers, without a key. LM Studio
// answers unknown paths with 200, and llama.cpp some of Ollama's, so that the members
// of the answers count.
func (p *Providers) identify(ctx context.Context, address string) spoken {
	ctx, cancel := context.WithTimeout(ctx, nearby)
	defer cancel()
	root := strings.TrimSuffix(strings.TrimSuffix(address, "/"), "/v1")
	openAI := func(name string) spoken { return spoken{name, config.ProviderOpenAI, root + "/v1"} }
	if p.look(ctx, root+"/props")["default_generation_settings"] != nil {
		return openAI("llamacpp")
	}
	if v := p.look(ctx, root+"/api/version"); v["version"] != nil {
		if tags := p.look(ctx, root+"/api/tags"); tags["models"] != nil {
			return spoken{"ollama", config.ProviderOllama, root}
		}
	}
	if first := firstOf(p.look(ctx, root+"/api/v0/models")); first["state"] != nil {
		return openAI("lmstudio")
	}
	var owner string
	first := firstOf(p.look(ctx, root+"/v1/models"))
	if json.Unmarshal(first["owned_by"], &owner) == nil {
		switch owner {
		case "vllm":
			return openAI("vllm")
		case "llamacpp":
			return openAI("llamacpp")
		case "organization_owner":
			return openAI("lmstudio")
		}
	}
	return spoken{}
}

// look returns the members of a response, none if it is not a JSON object.
func (p *Providers) look(ctx context.Context, address string) map[string]json.RawMessage {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return nil
	}
	client := *p.client
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	res, err := client.Do(r)
	if err != nil {
		return nil
	}
	defer res.Body.Close()
	var members map[string]json.RawMessage
	if res.StatusCode != http.StatusOK || json.NewDecoder(io.LimitReader(res.Body, maxIdentity)).Decode(&members) != nil {
		return nil
	}
	return members
}

// firstOf returns the first item of a list in "data".
func firstOf(members map[string]json.RawMessage) map[string]json.RawMessage {
	var items []map[string]json.RawMessage
	if json.Unmarshal(members["data"], &items) != nil || len(items) == 0 {
		return nil
	}
	return items[0]
}
