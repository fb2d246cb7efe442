package openai_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"chela"
)

// image is what the addresses of the fake hold.
func image(_ context.Context, address string) (string, []byte, error) {
	if address != "https://example.com/a.png" {
		return "", nil, chela.E(chela.Denied, "example.local is not a public address").WithHint("allow it")
	}
	return "image/png", []byte("a picture"), nil
}

// show is a part of a message with an image.
func show(url string) string { return `{"type":"image_url","image_url":{"url":"` + url + `"}}` }

// TestImagesAreFetched sends images by their addresses, to an agent and to a bare
// model.
func TestImagesAreFetched(t *testing.T) {
	t.Parallel()
	const address = "https://example.com/a.png"
	for name, c := range map[string]struct{ path, body string }{
		"chat":     {chat, `{"model":"MODEL","messages":[{"role":"user","content":[{"type":"text","text":"x"},` + show(address) + `]}]}`},
		"response": {responses, `{"model":"MODEL","input":[{"role":"user","content":[{"type":"input_image","image_url":"` + address + `"}]}]}`},
	} {
		h, s := newHome(said("ok")), small(chela.Finish{Text: "ok"}, nil)
		ask(t, setup(h, s), c.path, strings.Replace(c.body, "MODEL", "chela", 1))
		in := h.asked[0].Attachments
		if len(in) != 1 || in[0].Name != "image.png" || h.kept[in[0].SHA256] != "a picture" {
			t.Errorf("%s: the agent got %+v", name, in)
		}
		ask(t, setup(h, s), c.path, strings.Replace(c.body, "MODEL", "local/small", 1))
		if diff := cmp.Diff("a picture", string(s.provider.loaded)); diff != "" {
			t.Errorf("%s: image of the bare model (-want +got):\n%s", name, diff)
		}
	}
}

// TestImagesThatCannotBeFetched refuses the request and names the image.
func TestImagesThatCannotBeFetched(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ parts, param, code, words string }{
		"private": {show("http://example.local/"), "messages[0].content[0].image_url.url", "invalid_image_url", "not a public address"},
		"many": {
			strings.Repeat(show("https://example.com/a.png")+",", 16) + show("https://example.com/a.png"),
			"messages[0].content[16].image_url.url", "invalid_value", "more than 16 images",
		},
	} {
		for _, model := range []string{"chela", "local/small"} {
			h := newHome(said("ok"))
			w := post(setup(h, small(chela.Finish{Text: "ok"}, nil)), chat, `{"model":"`+model+`","messages":[{"role":"user","content":[`+c.parts+`]}]}`)
			got := troubleOf(t, w)
			if got.Status != 400 || got.Param != c.param || got.Code != c.code || strings.Count(got.Message, c.words) != 1 || strings.Count(got.Message, "allow it") > 1 || len(h.asked) > 0 {
				t.Errorf("%s, %s: got %+v", name, model, got)
			}
		}
	}
}
