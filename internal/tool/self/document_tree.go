package self

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"chela"
	"chela/internal/tool"
)

// maxListed is how many documents and folders one call of memory_tree lists.
const maxListed = 500

type treeInput struct {
	Path  string `json:"path,omitempty" jsonschema:"a folder; everything by default"`
	Depth int    `json:"depth,omitempty" jsonschema:"levels of folders to show; 1 by default" min:"1" max:"10"`
}

func (d documentTools) tree(ctx context.Context, call tool.Call[treeInput]) (chela.ToolResult, error) {
	nodes, err := d.Tree(ctx, call.Agent, call.In.Path, cmp.Or(call.In.Depth, 1))
	return tool.Done(documentListing(nodes, ofOthers(call.ToolCall))), errorForModel(err)
}

// documentListing formats nodes for the model; private ones are left out unless the
// owner asks.
func documentListing(nodes []chela.DocumentNode, others bool) string {
	var b strings.Builder
	shown := 0
	for i, n := range nodes {
		if others && chela.IsPrivateDocument(n.Path) {
			continue
		}
		if shown++; shown > maxListed {
			fmt.Fprintf(&b, "[%d more are not listed; name a folder]", len(nodes)-i)
			break
		}
		what := fmt.Sprintf("%d bytes", n.Size)
		if n.IsFolder() {
			what = fmt.Sprintf("%d inside", n.Documents)
		}
		fmt.Fprintf(&b, "%s  %s, written %s\n", n.Path, what, n.WrittenAt.UTC().Format(time.RFC3339))
	}
	if shown == 0 {
		return "[there are no documents]"
	}
	return b.String()
}
