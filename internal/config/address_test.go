package config_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/config"
)

func TestListen(t *testing.T) {
	t.Parallel()
	tests := []struct {
		address string
		ok      bool
	}{
		{"127.0.0.1:7717", true},
		{"127.0.0.1:0", true},
		{"0.0.0.0:80", true},
		{"localhost:7717", true},
		{"chela.example:65535", true},
		{"[::1]:7717", true},
		{"[fe80::1%eth0]:7717", true},
		{"[::]:7717", true},
		{"", false},
		{":7717", false},
		{"7717", false},
		{"127.0.0.1", false},
		{"::1:7717", false},
		{"127.0.0.1:65536", false},
		{"127.0.0.1:-1", false},
		{"127.0.0.1:http", false},
		{"http://127.0.0.1:7717", false},
		{"two words:7717", false},
	}
	for _, tt := range tests {
		t.Run(tt.address, func(t *testing.T) {
			t.Parallel()
			in := input("listen = \"127.0.0.2:1\"", "CHELA_LISTEN=127.0.0.3:1")
			in.Flags = map[string]string{"listen": tt.address}
			c, err := config.Load(in)
			if err == nil && c.Listen != tt.address {
				t.Errorf("listens on %s", c.Listen)
			}
			want := ""
			if !tt.ok {
				want = "invalid: --listen: listen cannot be \"" + tt.address + "\"; write an address and a port, such as " +
					"\"127.0.0.1:7717\" or \"[::1]:7717\"; \"0.0.0.0:7717\" is every address"
			}
			if got := words(err); got != want {
				t.Errorf("\ngot  %s\nwant %s", got, want)
			}
		})
	}
}

func TestListenOrder(t *testing.T) {
	t.Parallel()
	in := input("listen = \"127.0.0.2:1\"", "CHELA_LISTEN=127.0.0.3:1")
	in.Flags = map[string]string{"listen": "127.0.0.4:1"}
	c, err := config.Load(in)
	if err != nil {
		t.Fatal(err)
	}
	if got := sources(t, c, "listen")["listen"]; got != "127.0.0.4:1 (flag --listen)" {
		t.Errorf("got %s", got)
	}
	c = mustLoad(t, "listen = \"127.0.0.2:1\"", "CHELA_LISTEN=127.0.0.3:1")
	if got := sources(t, c, "listen")["listen"]; got != "127.0.0.3:1 (env CHELA_LISTEN)" {
		t.Errorf("got %s", got)
	}
}

func TestGateway(t *testing.T) {
	t.Parallel()
	c := mustLoad(t, `
[gateway]
hosts = ["chela.example", "10.0.0.1"]
messages_per_minute = 0
logins_per_minute = 3
hooks_per_minute = 4
connections = 50
[lanes]
waiting = 7
`, "CHELA_GATEWAY_ORIGINS=https://chela.example, http://[::1]:3000")
	want := config.Gateway{
		Hosts: []string{"chela.example", "10.0.0.1"}, Origins: []string{"https://chela.example", "http://[::1]:3000"},
		LoginsPerMinute: 3, HooksPerMinute: 4, Connections: 50,
	}
	if diff := cmp.Diff(want, c.Gateway); diff != "" || c.Lanes.Waiting != 7 {
		t.Errorf("waiting %d, gateway (-want +got):\n%s", c.Lanes.Waiting, diff)
	}
	for key, values := range map[string][]string{
		"gateway.hosts":               {`["chela.example:7717"]`, `["*"]`, `[""]`, `"x"`},
		"gateway.origins":             {`["chela.example"]`, `["https://chela.example/"]`, `["https://Chela.example"]`, `["https://chela.example:443"]`, `["http://a:80"]`, `["https://a:"]`, `["*"]`, `["null"]`, `["ftp://a"]`, `["https://me@a"]`, `["https://"]`},
		"gateway.messages_per_minute": {"-1", `"many"`},
		"gateway.logins_per_minute":   {"0"},
		"gateway.hooks_per_minute":    {"0"},
		"gateway.connections":         {"0"},
		"lanes.waiting":               {"0"},
	} {
		for _, value := range values {
			if _, err := load(key + " = " + value); err == nil {
				t.Errorf("%s took %s", key, value)
			}
		}
	}
}

// TestOllamaHost has the forms that Ollama itself takes.
func TestOllamaHost(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"127.0.0.1:1": "http://127.0.0.1:1", "0.0.0.0": "http://127.0.0.1:11434", ":8080": "http://127.0.0.1:8080", "[::]:1": "http://127.0.0.1:1",
		"pi.local": "http://pi.local:11434", "[::1]": "http://[::1]:11434", "http://pi": "http://pi:80", "https://pi/": "https://pi:443",
		"https://pi:1/ollama/": "https://pi:1/ollama",
	}
	for given, want := range tests {
		c := mustLoad(t, "", "OLLAMA_HOST="+given)
		if v, err := c.Value("providers.ollama.base_url"); err != nil || v.Value != want || v.Source != "env OLLAMA_HOST" {
			t.Errorf("%q is %+v (%v), want %s", given, v, err, want)
		}
	}
	for _, given := range []string{"ftp://pi", "a b", "me:secret@pi"} {
		if _, err := config.Load(input("", "OLLAMA_HOST="+given)); chela.KindOf(err) != chela.Invalid {
			t.Errorf("%q: got %v, want an invalid setting", given, err)
		}
	}
}
