package terminal

import (
	"cmp"
	"fmt"

	"chela/internal/api"
)

// PromptFields formats the size of a prompt as names and values, for people.
func PromptFields(s api.PromptSize) [][2]string {
	fields := [][2]string{
		{"model", s.Model},
		{"window", fmt.Sprintf("%d tokens, %d of them kept free for the answer", s.Window, s.Reserve)},
		{"used", fmt.Sprintf("%d of %d, %d %%", s.Total, s.Room, s.Total*100/cmp.Or(s.Room, 1))},
	}
	for _, part := range []struct {
		name   string
		tokens int
	}{{"system", s.System}, {"tools", s.Tools}, {"summary", s.Summary}, {"user", s.User}, {"assistant", s.Assistant}, {"results", s.Tool}} {
		fields = append(fields, [2]string{part.name, fmt.Sprint(part.tokens)})
	}
	if s.Ratio != 0 {
		fields = append(fields, [2]string{"counted", fmt.Sprintf("%.2f tokens by the provider for each of these", s.Ratio)})
	}
	return append(fields, [2]string{"messages", fmt.Sprint(s.Messages)})
}
