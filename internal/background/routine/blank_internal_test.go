package routine

import (
	"testing"
)

func TestBlank(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, markdown string
		want           bool
	}{
		{"nothing", "", true},
		{"space", " \n\t\n\u00a0\u200b\r\n", true},
		{"byte order mark", "\ufeff# Heartbeat\n", true},
		{"headings", "# Heartbeat\n\n## Daily\r\n###\n###### Never ######", true},
		{"empty items", "- \n*\n+\n1.\n2)\n  - \n> -\n>", true},
		{"empty boxes", "- [ ]\n* [x]\n1. [ ] \n  - []\n[ ]", true},
		{"rules", "---\n***\n_ _ _\n- - -\n===", true},
		{"comment", "<!-- look at the mail -->", true},
		{"long comment", "# A\n<!--\nlook at the mail\n\n- [ ] and the disk\n-->\n", true},
		{"two comments", "<!-- a --><!-- b -->", true},
		{"front matter", "---\nsummary: what to look at\nread_when:\n  - always\n---\n# Heartbeat\n", true},
		{"front matter with dots", "---\na: b\n...\n", true},
		{"empty front matter", "---\n---\n", true},
		{"empty code", "```md\n```\n~~~\n~~~", true},

		{"a line", "Look at the mail.", false},
		{"an item", "# Heartbeat\n- look at the mail", false},
		{"a box", "- [ ] look at the mail", false},
		{"a number", "1. 2", false},
		{"a quote", "> look at the mail", false},
		{"no heading", "#mail", false},
		{"too deep for a heading", "####### mail", false},
		{"underlined heading", "Look at the mail\n---\n", false},
		{"beside a comment", "<!-- daily --> look at the mail", false},
		{"between comments", "<!-- a -->\nlook at the mail\n<!-- b -->", false},
		{"comment without end", "# A\n<!-- look at the mail", false},
		{"after front matter", "---\na: b\n---\nlook at the mail", false},
		{"between rules", "---\nlook at the mail\n---\n", false},
		{"front matter without end", "---\nmail: look at it\n", false},
		{"front matter is not first", "\n---\nmail: look at it\n---\n", false},
		{"code", "```\nmail\n```", false},
		{"another script", "- 看邮件", false},
		{"a picture", "📬", false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := isBlank(test.markdown); got != test.want {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}

// Nothing that comes before it hides a line.
func FuzzBlank(f *testing.F) {
	f.Add("---\na: b\n---\n# A\n- [ ]\n<!-- x -->")
	f.Add("---\na: b\n<!-- ")
	f.Fuzz(func(t *testing.T, markdown string) {
		if isBlank(markdown + "\n-->\nlook at the mail") {
			t.Errorf("%q hides a line", markdown)
		}
	})
}
