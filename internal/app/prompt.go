package app

import (
	"chela/internal/config"
	"chela/internal/engine/prompt"
)

func promptSettings(c config.Compaction) prompt.Settings {
	return prompt.Settings{Reserve: c.ReserveTokens, ReserveFloor: c.ReserveFloor, KeepRecent: c.KeepRecentTokens, Soft: c.SoftThreshold}
}
