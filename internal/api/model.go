package api

import (
	"context"

	"chela"
)

// Models are those that are known.
type Models struct {
	Items []chela.Model      `json:"items"`
	Next  string             `json:"next,omitempty"` // as that of a [Page]
	Away  []UnlistedProvider `json:"away,omitempty"`
}

// An UnlistedProvider is a provider that did not list its models.
type UnlistedProvider struct {
	Provider string     `json:"provider"`
	Kind     chela.Kind `json:"kind"`
	Message  string     `json:"message"`
}

// A ModelTest asks to try a model out, as provider/model; without one those of
// every provider that is configured.
type ModelTest struct {
	Model string `json:"model,omitempty" check:"is=model max=256" arg:"[PROVIDER/MODEL]"`
}

// A ModelsQuery asks for the models after one of them.
type ModelsQuery struct {
	After string `query:"after" check:"is=line min=1 max=512" help:"provider/model"`
	Limit int    `query:"limit"`
}

// A PricesQuery asks for the prices of models whose provider/model contains a text,
// after one of them.
type PricesQuery struct {
	Match string `query:"match" check:"is=line max=256" arg:"[TEXT]" help:"a part of provider/model"`
	After string `query:"after" check:"is=line min=1 max=512" help:"provider/model"`
	Limit int    `query:"limit"`
}

// The operations on models. A provider that does not exist is NotFound; the problems
// of a model are in its trial.
var (
	ModelsList = Define[ModelsQuery, Models]("models.list", "GET /api/models", chela.ScopeRead,
		"List models with their known properties")
	ModelsPrices = Define[PricesQuery, Page[chela.Model]]("models.prices", "GET /api/models/prices", chela.ScopeRead,
		"List the known prices of models, also of those that are not set up")
	ModelsTest = Define[ModelTest, Page[Trial]]("models.test", "POST /api/models/test", chela.ScopeChat,
		"Test a model, or those of every configured provider").With(metered, long)
)

// AllModels returns all known models, and the providers that did not list theirs.
func AllModels(ctx context.Context, c conn) (all Models, err error) {
	err = pages(ctx, c, ModelsList.Request(ModelsQuery{Limit: MaxPage}), func(page Models) (next string) {
		all.Items, all.Away = append(all.Items, page.Items...), page.Away
		return page.Next
	})
	return all, err
}
