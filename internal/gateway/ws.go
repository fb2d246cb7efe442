package gateway

import (
	"chela"
	"chela/internal/gateway/edge"
)

// webSocket speaks both ways.
func (g *Gateway) webSocket(*edge.Visit) error {
	return chela.E(chela.Unsupported, "this build has no WebSocket").WithHint("send with POST /api/messages and read /api/events")
}
