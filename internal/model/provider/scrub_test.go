package provider_test

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"chela"
	"chela/internal/model/provider"
)

// secrets are keys as they are configured, the last ones with characters that
// encodings change.
var secrets = []string{
	"sk-test-4f1d9c27b85a4e06", "12345678", "p@ss/w+rd=&?x", `quo"te\back<slash>`, "schlüssel-ß-77", "very-long-" + strings.Repeat("k3y", 40),
}

// formsOf returns a secret in every form in which it may be met.
func formsOf(secret string) map[string]string {
	asJSON := func(v any) string {
		text, _ := json.Marshal(v)
		return string(text)
	}
	forms := map[string]string{
		"plain": "key=" + secret + ";", "query": url.QueryEscape(secret), "path": url.PathEscape(secret), "JSON": asJSON(secret),
		"JSON in JSON": asJSON(asJSON(map[string]string{"k": secret})), "HTML": html.EscapeString(secret),
		"hex": hex.EncodeToString([]byte(secret)), "HEX": strings.ToUpper(hex.EncodeToString([]byte(secret))),
		"slashes": strings.ReplaceAll(asJSON(secret), "/", `\/`),
	}
	for i, around := range []string{"", "u:", "user:", "a", "ab", "abc"} {
		forms[fmt.Sprintf("base64 %d", i)] = base64.StdEncoding.EncodeToString([]byte(around + secret))
		forms[fmt.Sprintf("base64 of more %d", i)] = base64.StdEncoding.EncodeToString([]byte(around + secret + "\n"))
		forms[fmt.Sprintf("base64 for addresses %d", i)] = base64.RawURLEncoding.EncodeToString([]byte(around + secret))
		forms[fmt.Sprintf("base64 in an address %d", i)] = url.QueryEscape(base64.StdEncoding.EncodeToString([]byte(around + secret)))
	}
	return forms
}

// traces are what would give a secret away: itself and its encodings, without
// what stands around it.
func traces(secret string) []string {
	inner := strings.Trim(string(mustJSON(secret)), `"`)
	return []string{
		secret, url.QueryEscape(secret), url.PathEscape(secret), inner, hex.EncodeToString([]byte(secret)), html.EscapeString(secret),
		base64.RawStdEncoding.EncodeToString([]byte(secret))[:len(secret)], base64.RawURLEncoding.EncodeToString([]byte(secret))[:len(secret)],
	}
}

func mustJSON(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return text
}

func TestScrubber(t *testing.T) {
	t.Parallel()
	s := provider.NewScrubber(secrets...)
	for _, secret := range secrets {
		for name, form := range formsOf(secret) {
			got := s.Text("before " + form + " after")
			if !strings.Contains(got, "[secret]") || !strings.HasPrefix(got, "before ") || !strings.HasSuffix(got, " after") {
				t.Errorf("%s of %q: %q became %q", name, secret, form, got)
			}
			for _, trace := range traces(secret) {
				if strings.Contains(got, trace) {
					t.Errorf("%s of %q: %q gives it away", name, secret, got)
				}
			}
		}
	}
}

// TestKnownKeys takes out what is a key by its form, and lets everything be that
// only looks like one.
func TestKnownKeys(t *testing.T) {
	t.Parallel()
	s := provider.NewScrubber("true", "short", "")
	for _, key := range []string{
		"sk-proj-abcdefghijklmnopqrstuvwx", "sk-ant-api03-abcdefghijklmnop_qrst-1", "AIza" + strings.Repeat("x", 35), "AKIAIOSFODNN7EXAMPLE",
		"ghp_" + strings.Repeat("a1", 18), "xoxb-123456789012-abc", "gsk_" + strings.Repeat("Z", 24), "123456789:" + strings.Repeat("A", 35),
		"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.SflKxwRJSMeKKF2QT4", "chela_" + strings.Repeat("a2", 26),
		"Bearer abcdefghijklmnop1234", "-----BEGIN RSA PRIVATE KEY-----\nMIIB\n-----END RSA PRIVATE KEY-----",
	} {
		if got := s.Text("a " + key + " b"); got != "a [secret] b" {
			t.Errorf("%q became %q", key, got)
		}
	}
	for _, text := range []string{
		"commit 1f3efbf0c0b1a8f1f0a9d8b7c6e5d4c3b2a19081", "id 123e4567-e89b-12d3-a456-426614174000", "the Secretary keeps secrets, true",
		"task-list and risk-averse", "sk-learn", "bearer of news", "turn_01JABCDEFGHJKMNPQRSTVWXYZ0", "a basic question about nothing in particular",
	} {
		if got := s.Text(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}

// TestNoSecretInRecording asks and answers with every secret in every form and
// place, and in pieces, and looks for them in the files.
func TestNoSecretInRecording(t *testing.T) {
	t.Parallel()
	var forms []string
	for _, secret := range secrets {
		for _, form := range formsOf(secret) {
			forms = append(forms, form)
		}
	}
	dir := t.TempDir()
	r := recorder(t, dir, secrets...)
	for _, form := range forms {
		req := ask("my key is " + form)
		req.System = form
		args := mustJSON(map[string]any{"key " + form: []string{form}, "n": json.Number("12345678")})
		call := chela.CallSpec{Ref: "r", Tool: "t", Args: args, Raw: "{" + form}
		req.Messages = append(req.Messages, chela.Message{Role: chela.RoleAssistant, Calls: []chela.CallSpec{call}, Thinking: []chela.Thinking{{Text: form}}})
		req.Tools = []chela.ToolSpec{{Name: "t", Description: form, Input: mustJSON(map[string]string{"description": form})}}
		var pieces []string
		for i := range len(form) {
			pieces = append(pieces, form[i:i+1])
		}
		a := answerOf(chela.Finish{Calls: []chela.CallSpec{call}, Thinking: []chela.Thinking{{Text: form}}}, pieces...)
		a.chunks = append([]chela.Chunk{{Thinking: form[:4]}, {Thinking: form[4:]}}, a.chunks...)
		p := r.Record(&fakeAnswers{answers: []said{a, {err: &chela.ProviderError{Provider: "p", Kind: chela.Denied, Msg: form}}}}, "p/m")
		drainRecording(p.Stream(t.Context(), req))
		drainRecording(p.Stream(t.Context(), req))
	}
	files := filesOf(t, dir)
	if len(files) != 2*len(forms) {
		t.Errorf("%d files, want %d", len(files), 2*len(forms))
	}
	for name, text := range files {
		for _, secret := range secrets {
			for _, trace := range traces(secret) {
				if strings.Contains(text, trace) {
					t.Fatalf("%s holds %q:\n%s", name, trace, text)
				}
			}
		}
	}
}

// TestPiecesStay leaves pieces as they came where they hold no secret.
func TestPiecesStay(t *testing.T) {
	t.Parallel()
	dir := recorded(t, "p/m", []*chela.Request{ask("hi")}, answerOf(chela.Finish{}, "a", "ä", " sk", "-learn"))
	got := drainRecording(open(t, dir, "p/m").Stream(t.Context(), ask("hi")))
	checkSame(t, answerOf(chela.Finish{}, "a", "ä", " sk", "-learn"), got)
}

// TestCountsStay keeps what was only counted, also where it stands in a secret.
func TestCountsStay(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "tape")
	told := answerOf(chela.Finish{}, "it is ", secrets[0][:4], secrets[0][4:])
	told.chunks = slices.Insert(told.chunks, 2, chela.Chunk{Unseen: 7})
	drainRecording(recorder(t, dir, secrets...).Record(&fakeAnswers{answers: []said{told}}, "p/m").Stream(t.Context(), ask("hi")))
	want := answerOf(chela.Finish{}, "it is [secret]")
	want.chunks = slices.Insert(want.chunks, 1, chela.Chunk{Unseen: 7})
	checkSame(t, want, drainRecording(open(t, dir, "p/m").Stream(t.Context(), ask("hi"))))
}

func FuzzScrubber(f *testing.F) {
	for _, secret := range secrets {
		f.Add(secret, "a")
	}
	f.Fuzz(func(t *testing.T, secret, around string) {
		if len(secret) < 8 || strings.ContainsAny(secret, "[]") {
			return
		}
		if got := provider.NewScrubber(secret).Text(around + secret + around); strings.Contains(got, secret) {
			t.Errorf("%q holds %q", got, secret)
		}
	})
}
