package config

import (
	"slices"

	"chela"
	"chela/internal/config/field"
	"chela/internal/config/hooks"
	"chela/internal/config/tomlfile"
)

// hookSettings returns the keys of a [[hooks]] section.
func hookSettings() (all []setting) {
	for _, k := range hooks.Keys {
		all = append(all, setting{"hooks[]." + k.Name, nil, func(c *Config, n string) field.Field { return k.At(c.hook(n)) }})
	}
	return all
}

// hook returns the hook at a place of the list, and makes it if it is new.
func (c *Config) hook(at string) *hooks.Hook {
	n := tomlfile.NthOf(at)
	for len(c.Hooks) < n {
		c.Hooks = append(c.Hooks, hooks.New())
	}
	return &c.Hooks[n-1]
}

// checkHooks refuses hooks that have a problem.
func (l *loader) checkHooks() error {
	for i, h := range l.c.Hooks {
		section := []string{"hooks", tomlfile.Place(i + 1)}
		name := tomlfile.Join(section)
		problem, cure := h.Problem(func(key string) bool {
			_, ok := l.slots[tomlfile.Join(append(slices.Clone(section), key))]
			return ok
		})
		if problem != "" {
			return chela.E(chela.Invalid, l.sections[name].place+": "+name+" "+problem).WithHint(cure)
		}
	}
	return nil
}
