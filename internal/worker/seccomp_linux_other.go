//go:build linux && !amd64 && !arm64

package worker

import (
	"runtime"

	"chela"
)

type rule struct{}

func filterFor(Order, int) []rule { return nil }

// installFilter says that there is no filter for this architecture.
func installFilter([]rule) error {
	return chela.E(chela.Unsupported, "there is no seccomp filter for "+runtime.GOARCH)
}
