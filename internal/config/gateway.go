package config

// Gateway limits access to the HTTP API.
type Gateway struct {
	Hosts             []string `key:"hosts" is:"hosts"`                                          // accepted Host headers besides loopback and the listening address
	Origins           []string `key:"origins" is:"origins"`                                      // origins of pages that may use the API besides its own, as browsers send them
	MessagesPerMinute int      `key:"messages_per_minute" default:"60000" range:"0..10_000_000"` // of one token; 0 means no limit
	LoginsPerMinute   int      `key:"logins_per_minute" default:"10" range:"1..10_000"`          // of one address
	HooksPerMinute    int      `key:"hooks_per_minute" default:"300" range:"1..1_000_000"`       // of one address
	Connections       int      `key:"connections" default:"6000" range:"1..1_000_000"`           // open at once
}
