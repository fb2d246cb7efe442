package background

import (
	"bytes"
	"database/sql"
	"os"
	"strings"
	"testing"
	"time"

	"chela/internal/config"
	"chela/internal/safety/vault"
	"chela/internal/store"
)

// TestDoctorFindsDamage: a database with overwritten bytes in a page, or with a row
// that refers to a missing one, is a finding with a cure; an intact one is not.
func TestDoctorFindsDamage(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(t *testing.T, path string){
		"intact": func(*testing.T, string) {},
		"damaged page": func(t *testing.T, path string) {
			raw, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			copy(raw[len(raw)-4096:], bytes.Repeat([]byte{0xfd}, 64))
			if err := os.WriteFile(path, raw, 0o600); err != nil {
				t.Fatal(err)
			}
		},
		"row without its session": func(t *testing.T, path string) {
			db, err := sql.Open("sqlite", path)
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			if _, err := db.ExecContext(t.Context(), `insert into lanes (session, class) values ('none', 'main')`); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			cfg, err := config.Load(config.Input{Home: home, ReadFile: func(string) ([]byte, error) { return []byte(`model = "offline/rules"`), nil }})
			if err != nil {
				t.Fatal(err)
			}
			s, err := store.Open(t.Context(), store.Config{Path: cfg.DatabasePath()})
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			damage(t, cfg.DatabasePath())
			found := examineDatabase(t.Context(), Examination{Settings: cfg, Now: time.Now(), Secrets: func(s *store.Store) *vault.References {
				return vault.NewReferences(vault.New(s, vault.Config{Now: time.Now}), vault.ReferenceConfig{})
			}})[0]
			if intact := name == "intact"; found.OK != intact || !intact && (!strings.Contains(found.Text, "damaged") || found.Cure == "") {
				t.Errorf("%+v", found)
			}
		})
	}
}
