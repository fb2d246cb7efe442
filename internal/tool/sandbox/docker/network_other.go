//go:build !linux

package docker

import (
	"context"

	"github.com/moby/moby/client"

	"chela"
	"chela/internal/safety/egress"
)

// A network gives a container the proxy of a run.
type network struct{}

// openNetwork refuses: a listener is passed between processes of one kernel only.
func openNetwork(context.Context, *egress.Run, *client.ContainerCreateOptions) (*network, error) {
	return nil, chela.E(chela.Unsupported, "commands in containers have no network on this system").WithHint("run chela on Linux")
}

func (*network) close() {}
