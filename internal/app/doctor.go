package app

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"chela"
	"chela/internal/app/background"
	"chela/internal/app/home"
	"chela/internal/app/known"
	"chela/internal/cli"
	"chela/internal/config"
	"chela/internal/config/provider"
	"chela/internal/config/sections"
	"chela/internal/sandbox/process"
	"chela/internal/store"
)

// examine looks at everything that can be wrong with a home. It changes
// nothing: a database that does not exist is not made.
func examine(ctx context.Context, cfg *config.Config) []cli.Finding {
	found := append([]cli.Finding{examineHome(cfg)}, examineDatabase(ctx, cfg)...)
	found = append(found, examineModel(cfg), examinePrices(cfg), examineSandbox(ctx, cfg), examineWorkspace(cfg))
	return append(found, examineRecordings(cfg)...)
}

// examineRecordings names the recordings that are made or played, as somebody may
// have forgotten them.
func examineRecordings(cfg *config.Config) (found []cli.Finding) {
	says := map[string]string{"record": "what models are asked and answer is written into ", "replay": "no model is asked: answers come from the recording in "}
	for _, key := range []string{"record", "replay"} {
		v, err := cfg.Value(key)
		if err != nil || v.Value == "" {
			continue
		}
		f := cli.Finding{Subject: key, OK: true, Text: says[key] + v.Value + " (" + v.Source + ")"}
		if strings.HasPrefix(v.Source, "file ") {
			f.Cure = "chela config unset " + key + " ends that"
		}
		found = append(found, f)
	}
	return found
}

func found(subject, text string) cli.Finding {
	return cli.Finding{Subject: subject, OK: true, Text: text}
}

func wrong(subject string, err error) cli.Finding {
	text, cure := chela.MessageOf(err), chela.HintOf(err)
	var e *chela.Error
	if errors.As(err, &e) {
		text = e.Msg
	}
	return cli.Finding{Subject: subject, Text: text, Cure: cure}
}

func examineHome(cfg *config.Config) cli.Finding {
	st, err := os.Stat(string(cfg.Home))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return cli.Finding{Subject: "home", Text: string(cfg.Home) + " does not exist", Cure: "run chela init"}
	case err != nil:
		return wrong("home", home.Trouble(string(cfg.Home), err))
	case !st.IsDir():
		return wrong("home", home.Trouble(string(cfg.Home), fs.ErrExist))
	case st.Mode().Perm()&0o077 != 0:
		return cli.Finding{Subject: "home", Text: "others may look into " + string(cfg.Home), Cure: "chmod 700 " + string(cfg.Home)}
	}
	probe, err := os.CreateTemp(string(cfg.Home), ".doctor-*")
	if err != nil {
		return wrong("home", home.Trouble(string(cfg.Home), err))
	}
	if err := errors.Join(probe.Close(), os.Remove(probe.Name())); err != nil {
		return wrong("home", home.Trouble(string(cfg.Home), err))
	}
	return found("home", string(cfg.Home)+" is writable and private")
}

// examineDatabase looks at the database, and at what goes on in the background that
// is kept there.
func examineDatabase(ctx context.Context, cfg *config.Config) []cli.Finding {
	path := databasePath(cfg)
	if path != "" {
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return []cli.Finding{found("database", filepath.Base(path)+" does not exist yet; the first message makes it")}
		}
	}
	s, err := store.Open(ctx, store.Config{Path: path, URL: cfg.Database.URL.Reveal()})
	if err != nil {
		return []cli.Finding{wrong("database", err)}
	}
	c, err := store.Find(ctx, s, func(r *store.Read) (store.Counts, error) { return r.Counts(ctx) })
	var kept []cli.Finding
	if err == nil {
		kept, err = background.Examine(ctx, s, cfg, time.Now())
	}
	if err = errors.Join(err, s.Close()); err != nil {
		return []cli.Finding{wrong("database", err)}
	}
	text := s.Engine() + " answers"
	if c.TurnsLive > 0 {
		text += "; turns are open, they go on when chela runs"
	}
	return append([]cli.Finding{found("database", text)}, kept...)
}

func examineModel(cfg *config.Config) cli.Finding {
	p, _, err := cfg.Resolve(cfg.Model)
	if err != nil {
		return wrong("model", err)
	}
	if p.Kind == provider.Offline {
		return cli.Finding{
			Subject: "model", OK: true, Text: cfg.Model + " is a stand-in that follows rules",
			Cure: "set ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY or OPENROUTER_API_KEY, start Ollama, or add [providers.NAME] to config.toml",
		}
	}
	return found("model", cfg.Model+" is configured; chela models test tries it")
}

// examinePrices looks whether something is assumed of a model that is used.
func examinePrices(cfg *config.Config) cli.Finding {
	models, err := known.New(cfg, slog.New(slog.DiscardHandler))
	if err != nil {
		return wrong("prices", err)
	}
	for _, name := range cfg.UsedModels() {
		m := models.Model(name)
		if assumed := known.Assumption(m); assumed != "" && !models.ComesAlong(m.Provider) {
			return cli.Finding{Subject: "prices", OK: true, Text: name + " is not known; " + assumed + " is assumed", Cure: known.Cure(name)}
		}
	}
	return found("prices", "those of the models that are used are known")
}

func examineSandbox(ctx context.Context, cfg *config.Config) cli.Finding {
	if cfg.Sandbox.Mode == sections.SandboxOff {
		return cli.Finding{Subject: "sandbox", Text: "is off: commands run with all your rights", Cure: "chela config set sandbox.mode auto"}
	}
	box, err := process.New(process.Config{})
	if err == nil {
		err = box.Check(ctx)
	}
	if err != nil {
		return wrong("sandbox", err)
	}
	return found("sandbox", "commands run confined to the workspace, without network")
}

func examineWorkspace(cfg *config.Config) cli.Finding {
	for _, name := range cfg.AgentNames() {
		dir := cfg.Home.Workspace(name)
		if st, err := os.Stat(dir); err == nil && !st.IsDir() {
			return cli.Finding{Subject: "workspace", Text: dir + " is not a folder", Cure: "move it away"}
		}
	}
	return found("workspace", "every agent has its own below "+filepath.Dir(cfg.Home.Workspace(chela.MainAgent)))
}
