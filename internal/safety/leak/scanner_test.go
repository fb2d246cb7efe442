package leak_test

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"chela/internal/safety/leak"
)

const alnum = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

// random returns n characters of an alphabet, from a fixed seed.
func random(seed uint64, n int, alphabet string) string {
	r := rand.New(rand.NewPCG(seed, 7))
	b := make([]byte, n)
	for i := range b {
		b[i] = alphabet[r.IntN(len(alphabet))]
	}
	return string(b)
}

func TestFormats(t *testing.T) {
	t.Parallel()
	s := leak.New()
	key := func(n int) string { return random(uint64(n), n, alnum) }
	hex := func(n int) string { return random(uint64(n), n, "0123456789abcdef") }
	for name, secret := range map[string]string{
		"github-pat":         "ghp_" + key(36),
		"openai-project-key": "sk-proj-" + key(80),
		"anthropic-api-key":  "sk-ant-api03-" + key(93) + "AA",
		"openrouter-key":     "sk-or-v1-" + hex(64),
		"aws-access-token":   "AKIA" + random(1, 16, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"),
		"jwt":                "eyJ" + key(30) + ".eyJ" + key(60) + "." + key(43),
		"private-key":        "-----BEGIN OPENSSH PRIVATE KEY-----\n" + key(70) + "\n" + key(70) + "\n-----END OPENSSH PRIVATE KEY-----",
		"telegram-token":     "123456789:AA" + key(33),
		"chela-token":        "chela_" + key(52),
	} {
		for _, text := range []string{secret, "see " + secret + " there", `{"x":"` + secret + `"}`, "`" + secret + "`\n"} {
			found := s.Find(text)
			if len(found) != 1 || text[found[0].Start:found[0].End] != secret || found[0].Rule != name {
				t.Errorf("%s: in %q found %v", name, text, found)
			}
		}
	}
}

func TestAssignments(t *testing.T) {
	t.Parallel()
	s := leak.New()
	secret := "q7RkZ2v9LmX4tB8sWc1N"
	for _, text := range []string{
		"API_KEY=%s", `api_key = "%s"`, `"client_secret": "%s",`, "export SECRET_TOKEN='%s'", "--password %s", "password: %s",
		"Authorization: Bearer %s", "postgres://chela:%s@db.example/x", `<add key="Password" value="%s" />`, "db_password=%s\nuser=me",
		`{"apiKey":"%s"}`, `set("auth_token" => "%s")`,
	} {
		text = fmt.Sprintf(text, secret)
		if got := s.Redact(text); strings.Contains(got, secret) || !strings.Contains(got, "[redacted:") {
			t.Errorf("%q: %q", text, got)
		}
	}
	for _, text := range []string{
		"password = os.Getenv(\"DB_PASSWORD\")", "token: string", "secret = ${SECRET_TOKEN}", "the secret is safe", "tokens: 12,345",
		"password=<your password>", "token=env:GITHUB_TOKEN", "max_tokens = 4096", "https://user@example.com/a:b@c", "git@github.com:a/b.git",
		"token_id: 123e4567-e89b-12d3-a456-426614174000", "secret_name = projects/12/secrets/my-secret-2024", "password_file: /run/secrets/db-password-2",
		"next_page_token = computeNext(page2)", "see https://example.com:8080/@me", "secretary: Eva Maria 1984",
	} {
		if found := s.Find(text); len(found) > 0 {
			t.Errorf("%q: %v %q", text, found, text[found[0].Start:found[0].End])
		}
	}
}

func TestValuesInAllEncodings(t *testing.T) {
	t.Parallel()
	const value = `pa"ss <wörd>'& 42/+`
	s := leak.New(leak.Value{Name: "vault:db", Text: value}, leak.Value{Name: "short", Text: "1234567"})
	quoted := strings.ReplaceAll(value, `"`, `\"`)
	forms := map[string]string{
		"raw": value, "json": quoted, "query": url.QueryEscape(value), "path": url.PathEscape(value),
		"lower query": strings.ToLower(url.QueryEscape(value)), "hex": fmt.Sprintf("%x", value), "HEX": fmt.Sprintf("%X", value),
		"shell": strings.ReplaceAll(value, "'", `'\''`),
	}
	for i := range 3 {
		text := strings.Repeat("u", i) + value + ":tail"
		forms[fmt.Sprint("base64 ", i)] = base64.StdEncoding.EncodeToString([]byte(text))
		forms[fmt.Sprint("base64 url ", i)] = base64.RawURLEncoding.EncodeToString([]byte(text))
	}
	for name, form := range forms {
		found := s.Find("x" + form + "y")
		if len(found) != 1 || found[0].Rule != "vault:db" || !found[0].Exact || found[0].End-found[0].Start < len(form)*2/3 {
			t.Errorf("%s: in %q found %v", name, form, found)
		}
	}
	if found := s.Find("1234567"); len(found) > 0 {
		t.Errorf("a value that is too short: %v", found)
	}
}

// TestStreamsRedactTheSame: however a text is cut into pieces, what a Stream
// passes on is the redacted whole.
func TestStreamsRedactTheSame(t *testing.T) {
	t.Parallel()
	s := leak.New(leak.Value{Name: "vault:pass", Text: "correct horse battery"})
	parts := []string{
		"ghp_" + random(3, 36, alnum), "correct horse battery", "correct horse", "the key is: ", "password=Xk29fkaLq81s ", "a b c", "日本語のテキスト", "\n\n",
		"api_key = \"" + random(5, 32, alnum) + "\"", "-----BEGIN PRIVATE KEY-----\n" + random(6, 200, alnum) + "\n-----END PRIVATE KEY-----\n", " ",
		"https://u:hunter2hunter@h.example/ ", "token", "-----BEGIN", strings.Repeat("word ", 60), "eyJ" + random(8, 40, alnum) + ".eyJ" + random(9, 900, alnum) + "." + random(10, 43, alnum),
	}
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(parts), 1, 12).Draw(t, "parts"), "")
		stream := s.Stream()
		var got strings.Builder
		for rest := text; rest != ""; {
			n := min(len(rest), rapid.IntRange(1, 60).Draw(t, "piece"))
			got.WriteString(stream.Write(rest[:n]))
			rest = rest[n:]
		}
		got.WriteString(stream.Close())
		if want := s.Redact(text); got.String() != want {
			t.Errorf("text %q\n got %q\nwant %q", text, got.String(), want)
		}
	})
}

func TestStreamPassesProseOnAtOnce(t *testing.T) {
	t.Parallel()
	stream := leak.New().Stream()
	for _, word := range strings.SplitAfter("The key to a good token is a secret that no password holds. ", " ") {
		if got := stream.Write(word); len(got) < len(word)-1 {
			t.Errorf("%q was held back: passed %q", word, got)
		}
	}
}

// corpus returns a megabyte of source code of this project and of documents.
func corpus(t testing.TB) string {
	t.Helper()
	var b strings.Builder
	files, err := filepath.Glob("../../../internal/*/*.go")
	docs, _ := filepath.Glob("../../../*.md")
	if err != nil || len(files) == 0 {
		t.Fatalf("no files: %v", err)
	}
	for b.Len() < 1<<20 {
		for _, f := range append(docs, files...) {
			text, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			b.Write(text)
		}
	}
	return b.String()
}

func TestHostileTextTakesLinearTime(t *testing.T) {
	t.Parallel()
	s := leak.New(leak.Value{Name: "v", Text: strings.Repeat("a", 40) + "b"})
	for _, unit := range []string{"a", "key=", "token: ", "adafruit", "://", "-----BEGIN PRIVATE KEY-----", "eyJ", "curl ", "password='", "sk-"} {
		text := strings.Repeat(unit, (1<<20)/len(unit))
		begin := time.Now()
		s.Find(text)
		if took := time.Since(begin); took > 5*time.Second {
			t.Errorf("%q took %v for a megabyte", unit, took)
		} else {
			t.Logf("%q: %v", unit, took)
		}
	}
}

func BenchmarkClean(b *testing.B) {
	s, text := leak.New(), corpus(b)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		s.Find(text)
	}
}

func BenchmarkNew(b *testing.B) {
	values := make([]leak.Value, 40)
	for i := range values {
		values[i] = leak.Value{Name: fmt.Sprint(i), Text: random(uint64(i), 40, alnum)}
	}
	for b.Loop() {
		leak.New(values...)
	}
}

// TestRulesCompile: all expressions are valid, and all keywords in lower case.
func TestRulesCompile(t *testing.T) {
	t.Parallel()
	if n := leak.CompileAll(t); n < 200 {
		t.Errorf("%d rules", n)
	}
}
