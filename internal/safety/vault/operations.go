package vault

import (
	"cmp"
	"context"

	"chela"
	"chela/internal/api"
)

// Operations binds the operations on secrets.
func (v *Secrets) Operations() []api.Bound {
	return []api.Bound{
		api.SecretsList.Do(func(ctx context.Context, _ api.Caller, _ api.None) (api.Page[chela.Secret], error) {
			all, err := v.All(ctx)
			return api.Page[chela.Secret]{Items: all}, err
		}),
		api.SecretsShow.Do(func(ctx context.Context, _ api.Caller, q api.SecretRef) (chela.Secret, error) {
			return v.Secret(ctx, q.Name)
		}),
		api.SecretsSet.Do(func(ctx context.Context, _ api.Caller, q api.NewSecret) (chela.Secret, error) {
			return v.Set(ctx, q.Name, q.Value)
		}),
		api.SecretsDelete.Do(func(ctx context.Context, _ api.Caller, q api.SecretRef) (api.None, error) {
			return api.None{}, v.Delete(ctx, q.Name)
		}),
		api.SecretsUses.Do(func(ctx context.Context, _ api.Caller, q api.SecretUsesQuery) (api.Page[chela.SecretUse], error) {
			uses, err := v.Uses(ctx, q.Name, cmp.Or(q.Limit, api.UsualPage))
			return api.Page[chela.SecretUse]{Items: append([]chela.SecretUse{}, uses...)}, err
		}),
		api.SecretsRotate.Do(func(ctx context.Context, _ api.Caller, _ api.None) (api.RotatedSecrets, error) {
			return v.Rotate(ctx)
		}),
	}
}
