package command

import (
	"context"
	"fmt"
	"strings"

	"chela"
	"chela/internal/api"
	"chela/internal/platform/excerpt"
)

// trust lists the texts that came from outside, shows one, or vouches for the version
// of one that was shown. Texts are not shown in groups.
func (g given) trust(ctx context.Context) (string, error) {
	if g.inGroup() {
		return "", chela.E(chela.Denied, "texts of the owner are not shown in a group").WithHint("use /trust in a direct chat, or chela trust")
	}
	word, rest := CutWord(g.args)
	name, version := CutWord(strings.TrimSpace(rest))
	kind := chela.TextKind(strings.ToLower(word))
	if kind == "" {
		return g.untrusted(ctx)
	}
	if err := api.OneOf(kind, "is not a kind of text"); err != nil {
		return "", err
	}
	if name == "" {
		return "", invalid("no "+word+" is named", "see /trust")
	}
	if version = strings.TrimSpace(version); version == "" {
		t, err := api.Call(ctx, g, api.TrustShow, api.TextRef{Kind: kind, Name: name, Agent: g.session.Agent})
		return shownText(t), err
	}
	if !g.MayElevate() {
		return "", chela.E(chela.Denied, "only the owner can vouch for a text, by typing it").WithHint("use chela trust vouch, or a token with the scope admin")
	}
	v, err := api.Call(ctx, g, api.TrustVouch, api.VouchRequest{
		Kind: kind, Vouch: api.NewVouch{Name: name, Version: version, Agent: g.session.Agent},
	})
	switch {
	case err != nil:
		return "", err
	case v.ID == "":
		return fmt.Sprintf("The %s %s holds no text from outside.", v.Kind, v.Name), nil
	default:
		return fmt.Sprintf("You vouched for the %s %s. Until it changes, it counts as your text.", v.Kind, v.Name), nil
	}
}

// untrusted lists the texts of the agent that came from outside.
func (g given) untrusted(ctx context.Context) (string, error) {
	all, err := api.All(ctx, g, api.TrustList, api.TrustQuery{Agent: g.session.Agent, Limit: api.MaxPage})
	if err != nil || len(all) == 0 {
		return "No document, routine or file holds text from outside.", err
	}
	lines := listed(all, maxShown, func(t api.LabelledText) string {
		return fmt.Sprintf("- %s %s, from %s", t.Kind, t.Name, t.Provenance.Source)
	})
	return "These hold text from outside. /trust KIND NAME shows one:\n" + strings.Join(lines, "\n"), nil
}

// shownText formats a text for the owner, who may vouch for it. It names the version
// only if all of it is shown.
func shownText(t api.LabelledText) string {
	vouch := fmt.Sprintf("/trust %s %s %s vouches for it.", t.Kind, t.Name, t.Version)
	switch {
	case !t.Provenance.BelowFolder():
		vouch = "It holds no text from outside."
	case t.Cut || len(t.Text) > maxText:
		vouch = fmt.Sprintf("It is too long to be shown here: chela trust show %s %s shows it.", t.Kind, t.Name)
	}
	return fmt.Sprintf("%s %s, from %s:\n\n%s\n\n%s", t.Kind, t.Name, t.Provenance.Source, strings.TrimRight(excerpt.Marked(t.Text, maxText), "\n"), vouch)
}
