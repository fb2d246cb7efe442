package tool_test

import (
	"slices"
	"testing"
	"time"

	"chela"
	"chela/internal/safety/guard"
	"chela/internal/tool"
	"chela/internal/tool/file"
	"chela/internal/tool/web"
)

// BenchmarkBuiltins makes the set of the tools that need no sandbox, as every
// start of a turn's process does. It must stay below 5 ms.
func BenchmarkBuiltins(b *testing.B) {
	dialer, err := guard.New(guard.Config{})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		http := web.HTTP(web.Config{Dialer: dialer})
		tools := slices.Concat([]chela.Tool{tool.Echo(), tool.Time(time.Now, time.UTC), tool.JSON(), tool.Calc()}, file.Tools(file.Config{}), []chela.Tool{http})
		for i := range tools {
			tools[i] = tool.WithTimeout(tool.DefaultTimeout)(tool.WithRecover()(tools[i]))
		}
		newSet(b, tools...)
	}
}
