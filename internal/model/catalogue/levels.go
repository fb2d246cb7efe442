package catalogue

import (
	"path"
	"slices"
	"strings"

	"chela"
)

// A levelRow lists the thinking levels that some models accept.
type levelRow struct {
	Models []string              `toml:"models"` // patterns as in path.Match
	Levels []chela.ThinkingLevel `toml:"levels"`
	Source string                `toml:"source"`
	Date   string                `toml:"date"`
}

// setLevels sets the thinking levels of a model whose abilities are known. A model
// that does not think accepts none.
func setLevels(m *chela.Model) {
	if m.Abilities != nil && !slices.Contains(m.Abilities, chela.AbleThinking) {
		m.Levels = []chela.ThinkingLevel{}
		return
	}
	for name := strings.ToLower(path.Base(m.Name)); name != ""; name = undated(name) {
		for _, row := range known().Levels {
			if slices.ContainsFunc(row.Models, func(pattern string) bool {
				ok, _ := path.Match(pattern, name) // the patterns are part of the program
				return ok
			}) {
				m.Levels = slices.Clone(row.Levels)
				note(m, FieldLevels, "catalogue, "+row.Date+" "+row.Source)
				return
			}
		}
	}
}
