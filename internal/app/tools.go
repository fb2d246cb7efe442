package app

import (
	"context"
	"slices"

	"chela"
	"chela/internal/app/background"
	"chela/internal/app/home"
	"chela/internal/config/sections"
	"chela/internal/sandbox/process"
	"chela/internal/tool"
	"chela/internal/tool/file"
	"chela/internal/tool/memory"
	"chela/internal/tool/message"
	"chela/internal/tool/pure"
	"chela/internal/tool/result"
	"chela/internal/tool/routines"
	"chela/internal/tool/shell"
	"chela/internal/tool/web"
	"chela/internal/tool/workspace"
)

// builtins is the list of tools. Each is wrapped so that it keeps its time and
// size, and that a panic in it stays a fault of its own.
func (a *App) builtins() ([]chela.Tool, error) {
	cfg := a.cfg
	box, err := process.New(process.Config{Off: cfg.Sandbox.Mode == sections.SandboxOff})
	if err != nil {
		return nil, err
	}
	http, err := web.HTTP(web.Config{Workspace: a.workspace, Keep: a.blobs.Keep, Allow: cfg.Tools.HTTPAllow})
	if err != nil {
		return nil, err
	}
	tools := slices.Concat(
		[]chela.Tool{pure.Echo(), pure.Time(a.now), pure.JSON(), pure.Calc()},
		file.Tools(file.Config{
			Workspace: a.workspace, Keep: a.blobs.Keep, Bytes: a.blobs.Bytes,
			Written: func(ctx context.Context, thread chela.ThreadID, path string) (file.Written, error) {
				return a.rewinds.Written(ctx, thread, path) // which is made after the tools
			},
		}),
		[]chela.Tool{shell.New(box, a.workspace), http, result.Read(a.wholeText)},
		memory.Tools(memory.Documents{
			Version: a.memory.Version, Tree: a.memory.Tree, Edit: a.memory.Edit, Foresee: a.memory.Foresee,
			Today: a.memory.Today, Keep: a.blobs.Keep,
		}),
		background.Tools(func() *background.Background { return a.background }),                                    // which is made after the tools
		routines.Tools(background.RoutineTools(cfg.Zone(), func() *background.Background { return a.background })), // likewise
		[]chela.Tool{message.New(func(ctx context.Context, o message.Order) (string, error) { return a.background.Send(ctx, o) })},
	)
	wrap := []func(chela.Tool) chela.Tool{
		tool.WithRecover(), tool.WithTimeout(tool.DefaultTimeout), a.watched,
	}
	for i := range tools {
		for _, w := range wrap {
			tools[i] = w(tools[i])
		}
	}
	return tools, nil
}

// watched returns a tool that is turned off while it keeps failing by its own
// fault. Who looks after that is made after the tools.
func (a *App) watched(t chela.Tool) chela.Tool {
	run := t
	t.Run = func(ctx context.Context, call chela.ToolCall) (chela.ToolResult, error) {
		return a.background.Watch(run).Run(ctx, call)
	}
	return t
}

// workspace returns the folder of somebody's files.
func (a *App) workspace(o workspace.Owner) (string, error) { return home.Workspace(a.cfg.Home, o) }
