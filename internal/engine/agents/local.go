package agents

import (
	"cmp"
	"context"
	"net"
	"net/url"
	"time"

	"chela/internal/config"
	"chela/internal/model/provider/ollama"
)

// patience is the timeout of listing the models of a server on this machine.
const patience = 200 * time.Millisecond

// Local looks for a model on this machine, in an Ollama at its configured or
// its usual address. It returns the name as provider/model, or nothing if no
// server answers in time.
func Local(ctx context.Context, cfg *config.Config) string {
	settings, err := cfg.Provider("ollama")
	if err != nil || settings.Kind != config.ProviderOllama {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if !listens(ctx, cmp.Or(settings.BaseURL, ollama.DefaultBaseURL)) {
		return ""
	}
	p, err := ollama.New(ollama.Config{Name: settings.Name, BaseURL: settings.BaseURL, APIKey: settings.Key.Reveal()})
	if err != nil {
		return ""
	}
	name, err := p.First(ctx)
	if err != nil {
		return ""
	}
	return settings.Name + "/" + name
}

// listens reports whether a server may listen at an address: on this machine it tries
// to connect, so that where none does no client is made. To another machine the way
// may lead through a proxy, so true is returned.
func listens(ctx context.Context, address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	if u.Port() == "" || !isLoopback(address) {
		return true
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", u.Host)
	if err != nil {
		return false
	}
	return conn.Close() == nil
}
