package providers

import (
	"fmt"

	"chela"
	"chela/internal/config"
	"chela/internal/provider/anthropic"
	"chela/internal/provider/offline"
	"chela/internal/provider/ollama"
	"chela/internal/provider/openai"
	"chela/internal/provider/script"
)

// makeProvider is the list of providers: a kind and how it is made. Model is
// the part of the model's name behind the slash, window the one that is set for
// it, or 0.
func makeProvider(p config.Provider, model string, window int) (chela.Provider, error) {
	switch p.Kind {
	case config.KindAnthropic:
		return anthropic.New(anthropic.Config{Name: p.Name, BaseURL: p.BaseURL, APIKey: p.Key.Reveal()})
	case config.KindOpenAI:
		return openai.New(openai.Config{Name: p.Name, BaseURL: p.BaseURL, APIKey: p.Key.Reveal()})
	case config.KindOllama:
		return ollama.New(ollama.Config{Name: p.Name, BaseURL: p.BaseURL, APIKey: p.Key.Reveal(), Window: window})
	case config.KindScript:
		return script.Open(model)
	case config.KindOffline:
		return offline.New(offline.Config{Name: p.Name}), nil
	default:
		return nil, chela.E(chela.Unsupported, fmt.Sprintf("provider %s is of a kind that this version does not know", p.Name))
	}
}
