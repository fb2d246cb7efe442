package workspace

// Windows has neither flag.
const (
	openDir = 0
	noBlock = 0
)
