package gateway_test

import (
	"context"

	"chela"
	"chela/internal/api"
)

// sealed are the operations on the secrets of a home, which has one that cannot be
// deleted.
func sealed() []api.Bound {
	find := func(name chela.SecretName) (chela.Secret, error) {
		if name != "github" {
			return chela.Secret{}, chela.Ef(chela.NotFound, "there is no secret %q", name)
		}
		return chela.Secret{Name: name, Version: 1, Hosts: []string{"api.github.com"}}, nil
	}
	return []api.Bound{
		api.SecretsList.Do(func(context.Context, api.Caller, api.None) (api.Page[chela.Secret], error) {
			s, err := find("github")
			return api.Page[chela.Secret]{Items: []chela.Secret{s}}, err
		}),
		api.SecretsShow.Do(func(_ context.Context, _ api.Caller, q api.SecretRef) (chela.Secret, error) { return find(q.Name) }),
		api.SecretsSet.Do(func(_ context.Context, _ api.Caller, q api.NewSecret) (chela.Secret, error) {
			return chela.Secret{Name: q.Name, Version: 2, Hosts: q.Value.Hosts, Note: q.Value.Note}, nil
		}),
		api.SecretsDelete.Do(func(_ context.Context, _ api.Caller, q api.SecretRef) (none api.None, err error) {
			_, err = find(q.Name)
			return none, err
		}),
		api.SecretsUses.Do(func(_ context.Context, _ api.Caller, q api.SecretUsesQuery) (api.Page[chela.SecretUse], error) {
			s, err := find(q.Name)
			return api.Page[chela.SecretUse]{Items: []chela.SecretUse{{ID: "use_1", Name: s.Name, Version: s.Version, Purpose: "http"}}}, err
		}),
		api.SecretsRotate.Do(func(context.Context, api.Caller, api.None) (api.RotatedSecrets, error) {
			return api.RotatedSecrets{Secrets: 1, Key: "1234"}, nil
		}),
	}
}
