package background

import (
	"context"
	"fmt"

	"chela"
	"chela/internal/api"
	"chela/internal/config"
	"chela/internal/safety/vault"
)

// examineSecrets checks that the vault can be opened, and that each setting that
// refers to a secret has one. A home without either has no finding.
func examineSecrets(ctx context.Context, cfg *config.Config, secrets *vault.References) (found []api.Finding, err error) {
	switch n, place, err := secrets.Vault(ctx); {
	case err != nil && chela.KindOf(err) != chela.Internal:
		found = append(found, api.Unwell("secrets", err))
	case err != nil:
		return nil, err
	case n > 0:
		found = append(found, api.Well("secrets", fmt.Sprintf("%d, opened with %s", n, place)))
	}
	for _, r := range cfg.References() {
		if err := secrets.Examine(ctx, r.Secret); err != nil {
			f := api.Unwell("secrets", err)
			f.Text = r.Setting + ": " + f.Text
			found = append(found, f)
		}
	}
	return found, nil
}
