package leak_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"chela/internal/safety/leak"
)

// pat is a token of GitHub that belongs to nobody, in halves so that no scanner
// reports this file.
var pat = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"

func TestRedactJSON(t *testing.T) {
	t.Parallel()
	s := leak.New(leak.Value{Name: "mine", Text: `a"quote\and/more`})
	for _, c := range []struct{ raw, want string }{
		{`{"a":1,"b":"text"}`, `{"a":1,"b":"text"}`},
		{`{"a":"` + pat + `","b":2}`, `{"a":"[redacted:github-pat]","b":2}`},
		{`{"a":"line\n` + pat + `\nline"}`, `{"a":"line\n[redacted:github-pat]\nline"}`},
		{`{"a":"tab\u0009` + pat + `","b":"\u00e9"}`, `{"a":"tab\t[redacted:github-pat]","b":"\u00e9"}`},
		{`{"password":"hunter2!Hunter"}`, `{"password":"[redacted:assigned-secret]"}`},
		{`{"a":"{\"password\":\"hunter2!Hunter\"}"}`, `{"a":"{\"password\":\"[redacted:assigned-secret]\"}"}`},
		{`{"a":"x a\"quote\\and/more y"}`, `{"a":"x [redacted:mine] y"}`},
		{`["` + pat + `", "<&>\\"]`, `["[redacted:github-pat]", "<&>\\"]`},
		{`[ no JSON "` + pat, `[ no JSON "[redacted:github-pat]`},
		{`{"` + pat + `":1}`, `{"[redacted:github-pat]":1}`},
	} {
		got := s.RedactJSON(c.raw)
		if got != c.want {
			t.Errorf("RedactJSON(%s)\n got %s\nwant %s", c.raw, got, c.want)
		}
		if again := s.RedactJSON(got); again != got {
			t.Errorf("again it is %s, first %s", again, got)
		}
	}
}

// TestRedactingTwiceIsTheSame holds for all that is found in the labelled texts, so a
// text may pass several ways out.
func TestRedactingTwiceIsTheSame(t *testing.T) {
	t.Parallel()
	s := leak.New(leak.Value{Name: "DEPLOY_KEY", Text: "correct horse battery"})
	for i, row := range rows(t, "positive.tsv") {
		for _, around := range []string{"%", "password = \"%\"", "export TOKEN=%", "https://u:%@h", "Bearer %", `{"api_key":"%"}`} {
			text := strings.Replace(around, "%", filled(row[1], uint64(i)), 1)
			once := s.Redact(text)
			if twice := s.Redact(once); twice != once || !leak.HasMark(once) {
				t.Errorf("%s: %q, then %q", row[0], once, twice)
			}
		}
	}
	for _, text := range []string{"", "[redacted:]", "[redacted: x]", "[redacted:a b]", "redacted:x"} {
		if leak.HasMark(text) {
			t.Errorf("a mark is seen in %q", text)
		}
	}
}

// TestRedactorValues finds what was set last, in texts that it knew as clean before.
func TestRedactorValues(t *testing.T) {
	t.Parallel()
	r := leak.NewRedactor()
	long := "It is swordfish-of-the-day. " + strings.Repeat("And so on. ", 40)
	doc := `{"text":"` + long + `"}`
	for _, text := range []string{r.Text(long), r.Text(long), r.Value(long)} {
		if text != long {
			t.Fatalf("changed to %q", text)
		}
	}
	if r.JSON(doc) != doc {
		t.Fatal("the document was changed")
	}
	r.Set("vault", leak.Value{Name: "WORD", Text: "swordfish-of-the-day"})
	for _, text := range []string{r.Text(long), r.Value(doc), r.JSON(doc)} {
		if strings.Contains(text, "swordfish") || !strings.Contains(text, "[redacted:WORD]") {
			t.Errorf("kept %q", text)
		}
	}
	r.Set("config", leak.Value{Name: "other", Text: "something else"})
	if strings.Contains(r.Text(long), "swordfish") {
		t.Error("the values of one source replaced those of another")
	}
	r.Set("vault")
	if r.Text(long) != long {
		t.Error("a value is found that was taken back")
	}
	var none *leak.Redactor
	if none.Text(pat) != pat || none.JSON(pat) != pat || none.Find(pat) != nil || none.Stream().Write(pat) != pat || none.Stream().Close() != "" {
		t.Error("no redactor changed a text")
	}
}

// TestRedactorConcurrently is for the race detector.
func TestRedactorConcurrently(t *testing.T) {
	t.Parallel()
	r := leak.NewRedactor()
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for i := range 20 {
				if i%10 == 3 {
					r.Set("vault", leak.Value{Name: "V", Text: strings.Repeat("v", 8+i)})
				}
				if got := r.Text(strings.Repeat("clean ", 60) + pat); strings.Contains(got, pat) {
					t.Errorf("kept %q", got)
				}
			}
		})
	}
	all.Wait()
}

func TestRedactorWriter(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	w := leak.NewRedactor().Writer(&out)
	for _, line := range []string{"level=INFO key=" + pat + "\n", `{"key":"x\n` + pat + `"}` + "\n", "clean\n"} {
		if n, err := w.Write([]byte(line)); n != len(line) || err != nil {
			t.Errorf("wrote %d of %d bytes, %v", n, len(line), err)
		}
	}
	if want := "level=INFO key=[redacted:github-pat]\n{\"key\":\"x\\n[redacted:github-pat]\"}\nclean\n"; out.String() != want {
		t.Errorf("written %q, want %q", out.String(), want)
	}
}

// FuzzRedactJSON keeps JSON valid, and everything but the strings that hold a secret.
func FuzzRedactJSON(f *testing.F) {
	s := leak.New(leak.Value{Name: "v", Text: `quo"te\n and 'more'`})
	for _, raw := range []string{`{}`, `{"a":"` + pat + `"}`, `["\u0041", "\\", 1e5]`, `{"token":"a1B2c3D4e5F6g7H8i9J0"}`, `"a`, `{"a":"-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQ`} {
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		got := s.RedactJSON(raw)
		if json.Valid([]byte(raw)) && !json.Valid([]byte(got)) {
			t.Errorf("%q became %q, which is no JSON", raw, got)
		}
		if strings.Contains(raw, pat) && json.Valid([]byte(raw)) && strings.Contains(got, pat) && len(s.Find(raw)) > 0 && !strings.Contains(raw, `\`) {
			t.Errorf("%q keeps its secret", raw)
		}
	})
}

// BenchmarkRedactorAgain redacts a prompt of 60 KB that was redacted before.
func BenchmarkRedactorAgain(b *testing.B) {
	r := leak.NewRedactor()
	text := corpus(b)[:60<<10]
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		r.Text(text)
	}
}

// TestLearningLosesNothing: values that are learned at once are all found.
func TestLearningLosesNothing(t *testing.T) {
	t.Parallel()
	r := leak.NewRedactor()
	var values []string
	var all sync.WaitGroup
	start := make(chan struct{})
	for i := range 32 {
		value := fmt.Sprintf("swordfish-number-%d", i)
		values = append(values, value)
		all.Go(func() {
			<-start
			r.Learn("fish", value)
		})
	}
	close(start)
	all.Wait()
	for _, value := range values {
		if got := r.Text("it is " + value + " here"); strings.Contains(got, value) {
			t.Errorf("%q is shown", got)
		}
	}
}
