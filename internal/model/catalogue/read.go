package catalogue

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"chela"
	"chela/internal/platform/lazyregexp"
)

// written is a row in the form of models.toml.
type written struct {
	Window         int             `toml:"window"`
	MaxOutput      int             `toml:"max_output"`
	Input          dollars         `toml:"input"`
	Output         dollars         `toml:"output"`
	CacheRead      dollars         `toml:"cache_read"`
	CacheWrite     dollars         `toml:"cache_write"`
	LongFrom       int             `toml:"long_from"`
	LongInput      dollars         `toml:"long_input"`
	LongOutput     dollars         `toml:"long_output"`
	LongCacheRead  dollars         `toml:"long_cache_read"`
	LongCacheWrite dollars         `toml:"long_cache_write"`
	Abilities      []chela.Ability `toml:"abilities"`
	Source         string          `toml:"source"`
	Date           string          `toml:"date"`
}

// dollars is an optional amount. It is read from the digits of the file,
// because a float would round it.
type dollars struct{ at *chela.MicroUSD }

// UnmarshalText reads an amount.
func (d *dollars) UnmarshalText(text []byte) error {
	m, err := chela.ParseUSD(string(text))
	if err != nil {
		return err
	}
	d.at = &m
	return nil
}

func (w written) row() Row {
	return Row{
		Window: w.Window, MaxOutput: w.MaxOutput,
		Input: w.Input.at, Output: w.Output.at, CacheRead: w.CacheRead.at, CacheWrite: w.CacheWrite.at,
		LongFrom: w.LongFrom, LongInput: w.LongInput.at, LongOutput: w.LongOutput.at,
		LongCacheRead: w.LongCacheRead.at, LongCacheWrite: w.LongCacheWrite.at,
		Abilities: w.Abilities, Source: strings.Trim(w.Date+" "+w.Source, " "),
	}
}

// read reads the rows of a models.toml.
func read(text []byte) (layer, error) {
	var file struct {
		Models map[string]written `toml:"models"`
	}
	if err := toml.NewDecoder(bytes.NewReader(text)).DisallowUnknownFields().Decode(&file); err != nil {
		return nil, invalid("models.toml", err)
	}
	rows := make(layer, len(file.Models))
	for name, w := range file.Models {
		if err := w.check(name); err != nil {
			return nil, chela.E(chela.Invalid, fmt.Sprintf("models.toml: [models.%q]: %v", name, err)).
				WithHint(`write [models."provider/name"] with window and max_output in tokens and prices in dollars for a million tokens`)
		}
		rows[name] = w.row()
	}
	return rows, nil
}

// check returns the fault of a row; "" for none.
func (w written) check(name string) error {
	provider, model, ok := strings.Cut(name, "/")
	switch {
	case !ok || model == "" || !chela.ValidName(provider):
		return fmt.Errorf("is not a model")
	case w.Window < 0 || w.MaxOutput < 0 || w.LongFrom < 0:
		return fmt.Errorf("a number of tokens cannot be negative")
	case w.row().Lacks() != "":
		return fmt.Errorf("a price has both input and output, and %s is missing", w.row().Lacks())
	case (w.LongFrom > 0) != (w.LongInput.at != nil) || (w.LongFrom > 0) != (w.LongOutput.at != nil):
		return fmt.Errorf("a price of long prompts has long_from, long_input and long_output")
	}
	return nil
}

// version matches the suffix of a model name that has several versions: a date,
// a number of three digits, or the host.
var version = lazyregexp.New(`(-\d{4}-\d{2}-\d{2}|-\d{8}|-\d{3,4}|-latest|@[^@]+)$`)

// revision matches the suffix that Bedrock appends to model names.
var revision = lazyregexp.New(`-v\d+(:\d+)?$`)

// undated returns a name without its last version suffix, or "" if it has none.
func undated(name string) string {
	if at := version().FindStringIndex(name); at != nil {
		return name[:at[0]]
	}
	return ""
}
