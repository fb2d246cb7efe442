package hook

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"

	"chela"
	"chela/internal/safety/guard"
)

// A webhook is a hook behind an HTTP address.
type webhook struct {
	url    string
	client *http.Client
}

func newWebhook(address string) (askFunc, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, chela.E(chela.Invalid, "a hook has no usable url").WithHint("use a url that begins with http:// or https://")
	}
	// The owner's configuration names the host, so that it may be on this machine.
	dialer, err := guard.New(guard.Config{Allow: []string{u.Hostname()}})
	if err != nil {
		return nil, err
	}
	return webhook{url: address, client: &http.Client{
		// It uses no proxy from the environment, which would see the moments.
		Transport: dialer.Transport(),
		CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse
		},
	}}.ask, nil
}

// ask is an askFunc.
func (w webhook) ask(ctx context.Context, m Moment) (outcome, error) {
	body, err := json.Marshal(m)
	if err != nil {
		return outcome{}, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.url, bytes.NewReader(body))
	if err != nil {
		return outcome{}, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "chela")
	res, err := w.client.Do(req)
	if err != nil {
		return outcome{}, chela.E(chela.Unavailable, "the webhook cannot be reached").Because(err)
	}
	defer res.Body.Close() // the response body is only read
	if res.StatusCode < 200 || res.StatusCode > 299 {
		return outcome{}, chela.Ef(chela.Unavailable, "the webhook answered with status %d", res.StatusCode)
	}
	raw, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
	if err != nil {
		return outcome{}, chela.E(chela.Unavailable, "the webhook's answer was cut off").Because(err)
	}
	return read(raw, m)
}
