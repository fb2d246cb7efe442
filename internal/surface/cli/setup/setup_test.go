package setup_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"chela/internal/config"
	"chela/internal/surface/cli/setup"
	"chela/internal/surface/terminal"
)

func load(t *testing.T, dir string) *config.Config {
	t.Helper()
	cfg, err := config.Load(config.Input{Home: dir})
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

func TestAsk(t *testing.T) {
	t.Parallel()
	const (
		model   = "model [offline/rules]: "
		listen  = "listen [127.0.0.1:7717]: "
		sandbox = "sandbox.mode [auto]: "
	)
	tests := []struct {
		name    string
		answers string
		asked   []string // what was asked and said besides why, in order
		want    map[string]string
		end     error
	}{
		{"defaults", "\n\n\n", []string{model, listen, sandbox}, nil, nil},
		{
			"answers", "anthropic/x\n[::1]:80\noff\n",
			[]string{model, listen, sandbox},
			map[string]string{"model": "anthropic/x", "listen": "[::1]:80", "sandbox.mode": "off"},
			nil,
		},
		{
			"wrong answers", "gpt\nnobody/x\nopenai/x\n\npodman\n\n",
			[]string{
				model, `model cannot be "gpt"`, model, `no provider "nobody"`, model, listen,
				sandbox, `sandbox.mode cannot be "podman"`, sandbox,
			},
			map[string]string{"model": "openai/x"},
			nil,
		},
		{"no more answers", "openai/x\n", []string{model, listen}, map[string]string{"model": "openai/x"}, terminal.ErrInterrupted},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			cfg := load(t, dir)
			if err := setup.WriteConfig(cfg.Home); err != nil {
				t.Fatal(err)
			}
			var out, errs strings.Builder
			err := setup.Ask(t.Context(), terminal.NewPrinter(&out, &errs), terminal.NewInput(strings.NewReader(tt.answers)), cfg)
			if !errors.Is(err, tt.end) || out.Len() > 0 {
				t.Errorf("ended with %v, output %q", err, out.String())
			}
			rest := errs.String()
			for _, part := range tt.asked {
				_, after, ok := strings.Cut(rest, part)
				if !ok {
					t.Fatalf("%q is missing in %q of\n%s", part, rest, errs.String())
				}
				rest = after
			}
			want := map[string]string{"model": "offline/rules", "listen": "127.0.0.1:7717", "sandbox.mode": "auto"}
			got := map[string]string{}
			after := load(t, dir)
			for key := range want {
				if given, ok := tt.want[key]; ok {
					want[key] = given
				}
				v, err := after.Value(key)
				if err != nil {
					t.Fatal(err)
				}
				got[key] = v.Value
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestWriteKeepsWhatIsThere(t *testing.T) {
	t.Parallel()
	home := config.Home(t.TempDir())
	if err := os.WriteFile(home.ConfigFile(), []byte("name = \"mine\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := setup.WriteConfig(home); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(home.ConfigFile()); err != nil || string(got) != "name = \"mine\"\n" {
		t.Errorf("the file is %q, %v", got, err)
	}
}
