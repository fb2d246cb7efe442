// Command chela is the agent runtime: see chela help.
package main

import (
	"os"

	"chela/internal/app"
	"chela/internal/tool/inside"
	"chela/internal/tool/worker"
)

// version is set by the linker in releases.
var version string

func main() {
	if worker.IsWorker(os.Args) {
		os.Exit(worker.Main())
	}
	if inside.IsWorker(os.Args) {
		os.Exit(inside.Main())
	}
	os.Exit(app.Main(os.Args[1:], version))
}
