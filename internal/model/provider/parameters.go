package provider

import (
	"context"
	"iter"
	"strings"

	"chela"
)

// Parameters wraps p, the provider of one model, with a check of request
// parameters: a request that sets a parameter outside of known is not sent, and
// fails as Unsupported, since a model of another protocol may accept it.
func Parameters(p chela.Provider, name string, known []Parameter) chela.Provider {
	return parameters{p, name, known}
}

type parameters struct {
	inner chela.Provider
	name  string
	known []Parameter
}

// Stream implements [chela.Provider].
func (p parameters) Stream(ctx context.Context, req *chela.Request) iter.Seq2[chela.Chunk, error] {
	lacking := LackingParameters(p.known, ParametersOf(req.Sampling, len(req.Tools) > 0))
	if len(lacking) == 0 {
		return p.inner.Stream(ctx, req)
	}
	words := make([]string, len(lacking))
	for i, l := range lacking {
		words[i] = string(l)
	}
	return func(yield func(chela.Chunk, error) bool) {
		yield(chela.Chunk{}, &chela.ProviderError{
			Provider: p.name, Kind: chela.Unsupported, Unpaid: true, Msg: "its protocol does not support " + strings.Join(words, ", "),
		})
	}
}
