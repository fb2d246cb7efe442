package api

import "chela"

// A SettingChange sets one value in config.toml. The daemon takes it up with
// its next start.
type SettingChange struct {
	Key   string `json:"key" check:"is=key max=256"`
	Value string `json:"value" check:"max=10000"`
}

// A SettingsQuery asks for the settings after one of them.
type SettingsQuery struct {
	After string `query:"after" check:"is=line min=1 max=256" help:"a key"`
	Limit int    `query:"limit"`
}

// The operations on the home as a whole. A setting that does not exist, and a value
// that it cannot have, is Invalid and changes nothing.
var (
	StatusShow = Define[None, Status]("status.show", "GET /api/status", chela.ScopeRead,
		"Show the state of the home")
	ConfigList = Define[SettingsQuery, Page[chela.Setting]]("config.list", "GET /api/config", chela.ScopeRead,
		"List settings with the source of each")
	ConfigSet = Define[SettingChange, None]("config.set", "PATCH /api/config", chela.ScopeAdmin,
		"Change a setting, from the next start on")
)
