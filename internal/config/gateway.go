package config

import (
	"chela/internal/config/field"
)

// Gateway limits access to the HTTP API.
type Gateway struct {
	Hosts             []string // accepted Host headers besides loopback and the listening address
	Origins           []string // origins of pages that may use the API besides its own, as browsers send them
	MessagesPerMinute int      // of one token; 0 means no limit
	LoginsPerMinute   int      // of one address
	HooksPerMinute    int      // of one address
	Connections       int      // open at once
}

// NewGateway returns the defaults.
func NewGateway() Gateway {
	return Gateway{MessagesPerMinute: 60_000, LoginsPerMinute: 10, HooksPerMinute: 300, Connections: 6000}
}

// GatewayKeys are the keys of [gateway].
var GatewayKeys = []field.Key[Gateway]{
	field.Named("hosts", func(g *Gateway) field.Field {
		return field.List(&g.Hosts, `a list of host names without port, such as "chela.example"`, isHost)
	}),
	field.Named("origins", func(g *Gateway) field.Field {
		return field.List(&g.Origins, `a list of origins as browsers send them, such as "https://chela.example"`, isOrigin)
	}),
	field.Named("messages_per_minute", func(g *Gateway) field.Field {
		return field.Number(&g.MessagesPerMinute, 0, 10_000_000)
	}),
	field.Named("logins_per_minute", func(g *Gateway) field.Field { return field.Number(&g.LoginsPerMinute, 1, 10_000) }),
	field.Named("hooks_per_minute", func(g *Gateway) field.Field { return field.Number(&g.HooksPerMinute, 1, 1_000_000) }),
	field.Named("connections", func(g *Gateway) field.Field { return field.Number(&g.Connections, 1, 1_000_000) }),
}
