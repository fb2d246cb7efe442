package main_test

import (
	"bytes"
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"chela/internal/model/provider/ollama/ollamatest"
	"chela/internal/model/provider/providertest"
)

// TestOllamaIsFound starts without any settings on a machine that runs Ollama,
// one that does not, and one where something else keeps silent at its port.
func TestOllamaIsFound(t *testing.T) {
	t.Parallel()
	c := providertest.NewCase("found", providertest.Answer{Text: []string{"Hello ", "there."}})
	srv := ollamatest.New(t, c)
	const note = "no model is set up, so ollama/test-model on this machine answers; chela config set model ollama/test-model keeps it\n"

	out, errs := plainRun(t, "OLLAMA_HOST="+srv.URL, "ask", "hello")
	if out != "Hello there.\n" || errs != note {
		t.Errorf("with Ollama: %q and %q", out, errs)
	}
	if sent := c.Received(); len(sent) != 1 || !strings.Contains(strings.Join(sent[0].Texts, " "), "hello") {
		t.Errorf("Ollama was asked %+v", sent)
	}
	if out, _ := plainRun(t, "OLLAMA_HOST="+srv.URL, "config", "get", "model"); out != "ollama/test-model\n" {
		t.Errorf("the model is %q", out)
	}
	if out, errs := plainRun(t, "OLLAMA_HOST="+srv.URL, "ask", "--model", "offline/rules", "compute 2+2"); !strings.Contains(out, "4") || strings.Contains(errs, "no model") {
		t.Errorf("with a model chosen: %q and %q", out, errs)
	}
	if sent := c.Received(); len(sent) != 1 {
		t.Errorf("Ollama was asked %d times, want once", len(sent))
	}

	began := time.Now()
	for _, host := range []string{"127.0.0.1:1", silent(t)} {
		out, errs := plainRun(t, "OLLAMA_HOST="+host, "ask", "compute 2+2")
		if !strings.Contains(out, "4") || !strings.HasPrefix(errs, "no model is set up, so the built-in offline rules answer; ") {
			t.Errorf("without Ollama: %q and %q", out, errs)
		}
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("nobody is to wait %v for what is not there", took)
	}
}

// TestOllamaIsServed has a daemon find the Ollama that is there when it begins.
func TestOllamaIsServed(t *testing.T) {
	t.Parallel()
	srv := ollamatest.New(t, providertest.NewCase("served", providertest.Answer{Text: []string{"Hello."}}))
	d := startDaemon(t, "OLLAMA_HOST="+srv.URL)
	if got := d.run("ask", "hello"); got != "Hello." {
		t.Errorf("answered %q", got)
	}
	d.stop()
}

// TestOllamaModels lists models: an Ollama that nobody configured may be away,
// of one that somebody did that is told.
func TestOllamaModels(t *testing.T) {
	t.Parallel()
	const away = "http://127.0.0.1:1"
	if out, errs := plainRun(t, "OLLAMA_HOST="+away, "models", "list"); !strings.Contains(out, "offline/rules") || errs != "" {
		t.Errorf("listed %q and %q", out, errs)
	}
	if out, errs := plainRun(t, "CHELA_PROVIDERS_OLLAMA_BASE_URL="+away, "models", "list"); !strings.Contains(out, "offline/rules") || !strings.HasPrefix(errs, "the models of ollama are not known: ") {
		t.Errorf("listed %q and %q", out, errs)
	}
	there := ollamatest.New(t, providertest.NewCase("listed", providertest.Answer{}))
	if out, errs := plainRun(t, "OLLAMA_HOST="+there.URL, "models", "list"); !strings.Contains(out, "ollama/test-model  131072") {
		t.Errorf("listed %q and %q", out, errs)
	}
}

// plainRun runs chela in a new home with a variable set.
func plainRun(t *testing.T, variable string, args ...string) (stdout, stderr string) {
	t.Helper()
	binary, err := plainBinary()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(t.Context(), binary, args...)
	cmd.Env = []string{"HOME=" + dir, "CHELA_HOME=" + filepath.Join(dir, "home"), variable}
	cmd.Stdout, cmd.Stderr = &out, &errs
	_ = cmd.Run() // what it says tells how it went
	return out.String(), errs.String()
}

// silent returns an address where somebody listens and says nothing.
func silent(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l.Addr().String()
}
