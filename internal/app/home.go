package app

import (
	"chela/internal/config"
	"chela/internal/platform/datadir"
)

// makeHome creates the folders of a home.
func makeHome(cfg *config.Config) error {
	dirs := []string{string(cfg.Home), cfg.Home.Run(), cfg.Home.Blobs()}
	for _, name := range cfg.AgentNames() {
		if dir, set := cfg.Workspace(name); !set {
			dirs = append(dirs, dir)
		}
	}
	return datadir.Make(dirs...)
}
