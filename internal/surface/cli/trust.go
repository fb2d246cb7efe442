package cli

import (
	"cmp"

	"github.com/spf13/cobra"

	"chela"
	"chela/internal/api"
	"chela/internal/surface/terminal"
)

// trustCommand returns the commands with which the owner vouches for texts.
func (c *commands) trustCommand() *cobra.Command {
	vouch := verb(c, api.TrustVouch, func(v chela.Vouch) {
		if v.ID == "" {
			c.Note("nothing to do: the " + string(v.Kind) + " " + v.Name + " holds no text from outside")
			return
		}
		c.Fields("vouched for", string(v.Kind)+" "+v.Name, "version", v.Version, "source", v.Provenance.Source)
	})
	vouch.Long = "Vouch for a text from outside after reading it with chela trust show. VERSION is the version that was\n" +
		"shown: if the text has changed since, nothing is done. Until it changes, the text counts as yours: the agent\n" +
		"acts on it without asking more than it asks for your own words."
	vouch.Example = "  chela trust list\n  chela trust show document knowledge/wine.md\n  chela trust vouch document knowledge/wine.md 3"
	return terminal.Group("trust", "Read texts that came from outside, and vouch for them",
		listing(c, api.TrustList, untrustedTexts), verb(c, api.TrustShow, c.labelledText), vouch, listing(c, api.TrustVouches, vouches))
}

var untrustedTexts = table[api.LabelledText]{
	head: "KIND\tNAME\tVERSION\tFROM",
	row: func(t api.LabelledText) []any {
		return []any{t.Kind, t.Name, t.Version, cmp.Or(t.Provenance.Source, string(t.Provenance.Integrity))}
	},
	none: "no document, routine or file holds text from outside",
}

var vouches = table[chela.Vouch]{
	head: "AT\tKIND\tNAME\tVERSION\tFROM\tBY",
	row:  func(v chela.Vouch) []any { return []any{v.At, v.Kind, v.Name, v.Version, v.Provenance.Source, v.By} },
	none: "nothing was vouched for yet",
}

// labelledText prints a text after its label.
func (c *commands) labelledText(t api.LabelledText) {
	from := "the owner, or the agent before it read anything from outside"
	if t.Provenance.BelowFolder() {
		from = string(t.Provenance.Integrity) + ": " + t.Provenance.Source
	}
	c.Fields(string(t.Kind), t.Name, "version", t.Version, "from", from)
	c.Line("\n" + t.Text)
	if t.Cut {
		c.Note("not all of it is shown: open it with another program before you vouch for it")
	}
}
