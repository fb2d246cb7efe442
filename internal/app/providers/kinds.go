package providers

import (
	"fmt"
	"net/http"
	"time"

	"chela"
	"chela/internal/app/known"
	"chela/internal/catalogue"
	"chela/internal/config"
	"chela/internal/config/provider"
	"chela/internal/provider/anthropic"
	"chela/internal/provider/bedrock"
	"chela/internal/provider/gemini"
	"chela/internal/provider/offline"
	"chela/internal/provider/ollama"
	"chela/internal/provider/openai"
	"chela/internal/provider/record"
	"chela/internal/provider/responses"
	"chela/internal/provider/script"
)

// makeProvider is the list of providers: a kind and how it is made for a model.
func makeProvider(p config.Provider, model chela.Model, client *http.Client, now func() time.Time) (chela.Provider, error) {
	window := 0 // the one that the home says
	if known.IsOwn(model, catalogue.FieldWindow) {
		window = model.Window
	}
	switch p.Kind {
	case provider.Anthropic:
		return anthropic.New(anthropic.Config{Name: p.Name, BaseURL: p.BaseURL, APIKey: p.Key.Reveal(), HTTPClient: client, MaxOutput: model.MaxOutput})
	case provider.OpenAI:
		return openai.New(openai.Config{Name: p.Name, BaseURL: p.BaseURL, APIKey: p.Key.Reveal(), HTTPClient: client, Lacks: p.Lacks, Has: p.Has})
	case provider.Gemini:
		return gemini.New(gemini.Config{Name: p.Name, BaseURL: p.BaseURL, APIKey: p.Key.Reveal(), HTTPClient: client})
	case provider.Ollama:
		return ollama.New(ollama.Config{Name: p.Name, BaseURL: p.BaseURL, APIKey: p.Key.Reveal(), HTTPClient: client, Window: window})
	case provider.Responses:
		return responses.New(responses.Config{Name: p.Name, BaseURL: p.BaseURL, APIKey: p.Key.Reveal(), HTTPClient: client})
	case provider.Bedrock:
		return bedrock.New(bedrock.Config{
			Name: p.Name, BaseURL: p.BaseURL, APIKey: p.Key.Reveal(), Region: p.Region, MaxOutput: model.MaxOutput, HTTPClient: client, Now: now,
			Keys: bedrock.Keys{ID: p.Signing.KeyID.Reveal(), Secret: p.Signing.Secret.Reveal(), SessionToken: p.Signing.SessionToken.Reveal()},
		})
	case provider.Script:
		return script.Open(model.Name)
	case provider.Replay:
		player, err := record.Open(model.Name, record.NewScrubber())
		if err != nil { // it names the folder, which others than the owner must not see
			return nil, chela.E(chela.KindOf(err), "the recording cannot be played").
				WithHint("play it with --provider replay:DIR, which says why").Because(err)
		}
		return player.Play(p.Name + "/" + model.Name), nil
	case provider.Offline:
		return offline.New(offline.Config{Name: p.Name}), nil
	default:
		return nil, chela.E(chela.Unsupported, fmt.Sprintf("provider %s is of a kind that this version does not know", p.Name))
	}
}
