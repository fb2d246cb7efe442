package file_test

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestSearchesHonourGitignore: what .gitignore names is found only by who asks for it,
// or looks inside.
func TestSearchesHonourGitignore(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	for name, text := range map[string]string{".gitignore": "dist/\n*.log\n", "src/a.go": "needle", "dist/b.go": "needle", "c.log": "needle"} {
		d.write(t, name, text)
	}
	for _, tt := range []struct {
		tool, args string
		finds      string
		left       string
	}{
		{"glob", `{"pattern":"**"}`, ".gitignore src/a.go", "2 left out"},
		{"glob", `{"pattern":"**","ignored":true}`, ".gitignore src/a.go dist/b.go c.log", ""},
		{"glob", `{"pattern":"*","path":"dist"}`, "dist/b.go", ""},
		{"grep", `{"pattern":"needle"}`, "src/a.go", "2 left out"},
		{"grep", `{"pattern":"needle","ignored":true}`, "src/a.go dist/b.go c.log", ""},
		{"grep", `{"pattern":"needle","path":"c.log"}`, "c.log", ""},
		{"list_dir", `{"recursive":true}`, ".gitignore src a.go", "2 left out"},
		{"list_dir", `{"recursive":true,"ignored":true}`, ".gitignore src a.go dist b.go c.log", ""},
	} {
		text := d.call(t, tt.tool, json.RawMessage(tt.args)).Text
		for _, name := range []string{".gitignore", "src/a.go", "dist/b.go", "c.log"} {
			base := name[strings.LastIndexByte(name, '/')+1:]
			wanted := strings.Contains(" "+tt.finds+" ", " "+name+" ") || strings.Contains(" "+tt.finds+" ", " "+base+" ")
			if strings.Contains(strings.ReplaceAll(text, "that .gitignore names", ""), base) != wanted {
				t.Errorf("%s %s: %s is found: %v\n%s", tt.tool, tt.args, name, !wanted, text)
			}
		}
		if strings.Contains(text, "left out") != (tt.left != "") || !strings.Contains(text, tt.left) {
			t.Errorf("%s %s does not say %q:\n%s", tt.tool, tt.args, tt.left, text)
		}
	}
}
