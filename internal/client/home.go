package client

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"time"

	"chela"
	"chela/internal/api"
)

// Tools returns the tools of an agent, sorted by name. They can be looked at
// and, by [Client.Call], run; their functions are nil.
func (c *Client) Tools(ctx context.Context, agent string) ([]chela.Tool, error) {
	listed, err := list[api.Tool](ctx, c, url.Values{"agent": {agent}}, "api", "tools")
	tools := make([]chela.Tool, len(listed))
	for i, t := range listed {
		tools[i] = chela.Tool{Name: t.Name, Description: t.Description, Domain: t.Domain, Input: t.Input}
	}
	slices.SortFunc(tools, func(a, b chela.Tool) int { return cmp.Compare(a.Name, b.Name) })
	return tools, err
}

// Call runs a tool in the agent's main session and waits for it as long as it
// takes.
func (c *Client) Call(ctx context.Context, agent, name string, args json.RawMessage) (chela.ToolResult, error) {
	if !json.Valid(args) { // it could not be sent
		return chela.ToolResult{}, chela.E(chela.Invalid, "the arguments are not JSON")
	}
	var out api.ToolOutcome
	err := c.do(ctx, request{
		method: http.MethodPost, path: []string{"api", "tools", name, "run"}, body: api.ToolRun{Agent: agent, Args: args},
	}, &out)
	return chela.ToolResult{Text: out.Text, Failed: out.Failed, Attachments: out.Attachments}, err
}

// Models returns the models that are known, sorted by provider and name, and who
// did not tell theirs. Providers are waited for as long as they take.
func (c *Client) Models(ctx context.Context) (api.Models, error) {
	return get[api.Models](ctx, c, "api", "models")
}

// Try tries provider/model out, or without a name a model of every provider that
// is set up, and waits as long as that takes.
func (c *Client) Try(ctx context.Context, model string) ([]chela.Trial, error) {
	var page api.Page[chela.Trial]
	path := []string{"api", "models", "test"}
	err := c.do(ctx, request{method: http.MethodPost, path: path, body: api.ModelTest{Model: model}}, &page)
	return page.Items, err
}

// Status counts what is in the home.
func (c *Client) Status(ctx context.Context) (chela.Status, error) {
	return get[chela.Status](ctx, c, "api", "status")
}

// UsageSums returns what was spent since the day that a time is in, where it is.
func (c *Client) UsageSums(ctx context.Context, by chela.UsageBy, since time.Time) ([]chela.UsageSum, error) {
	q := url.Values{"since": {since.Format(time.DateOnly)}}
	if by != "" {
		q.Set("by", string(by))
	}
	return list[chela.UsageSum](ctx, c, q, "api", "usage")
}

// Budgets returns the limits that apply to a session, or to the home alone if key
// is empty, and what is left of each.
func (c *Client) Budgets(ctx context.Context, key chela.SessionKey) ([]chela.Budget, error) {
	q := url.Values{}
	if key != "" {
		q.Set("session", string(key))
	}
	return list[chela.Budget](ctx, c, q, "api", "usage", "limits")
}

// TurnUsage returns the rows of the ledger that a turn caused.
func (c *Client) TurnUsage(ctx context.Context, id chela.TurnID) ([]chela.Usage, error) {
	t, err := get[api.Trace](ctx, c, "api", "turns", string(id), "trace")
	return t.Usage, err
}

// Tokens returns all tokens, also those that were revoked.
func (c *Client) Tokens(ctx context.Context) ([]chela.Token, error) {
	return list[chela.Token](ctx, c, url.Values{}, "api", "tokens")
}

// CreateToken makes a token and returns it with its secret, which is never shown
// again.
func (c *Client) CreateToken(ctx context.Context, name string, scope chela.Scope) (chela.Token, string, error) {
	var made api.MadeToken
	err := c.do(ctx, request{
		method: http.MethodPost, path: []string{"api", "tokens"}, body: api.NewToken{Name: name, Scope: scope}, limit: answerTime,
	}, &made)
	return made.Token, made.Secret, err
}

// RevokeToken ends a token, or is NotFound.
func (c *Client) RevokeToken(ctx context.Context, id chela.TokenID) error {
	return c.do(ctx, request{method: http.MethodDelete, path: []string{"api", "tokens", string(id)}, limit: answerTime}, nil)
}

// Attach keeps a file for the message it is sent with. One that is too large is
// Invalid; one that cannot be read is Unavailable.
func (c *Client) Attach(ctx context.Context, name string, content io.Reader) (a chela.Attachment, err error) {
	raw, err := io.ReadAll(io.LimitReader(content, api.MaxAttachment+1))
	switch {
	case err != nil:
		return a, chela.E(chela.Unavailable, "the attachment cannot be read").Because(err)
	case len(raw) > api.MaxAttachment:
		return a, chela.E(chela.Invalid, fmt.Sprintf("the attachment %s is larger than %d MiB", name, api.MaxAttachment>>20)).
			WithHint("send a smaller one, or put it into the workspace")
	}
	return a, c.do(ctx, request{
		method: http.MethodPost, path: []string{"api", "attachments"}, query: url.Values{"name": {name}}, body: raw, limit: answerTime,
	}, &a)
}

// Logs hands the lines of the log that are kept to show, oldest first, and then,
// to follow it, each new one until ctx ends, which is no error. It is Unavailable
// when the daemon ends first.
func (c *Client) Logs(ctx context.Context, follow bool, show func(line string)) error {
	query := url.Values{}
	if follow {
		query.Set("follow", "true")
	}
	err := c.logs(ctx, query, show)
	switch {
	case ctx.Err() != nil && follow:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, io.EOF) && follow:
		return noAnswer(err)
	case errors.Is(err, io.EOF):
		return nil
	default:
		return err
	}
}

// logs shows lines until there are no more, which is io.EOF.
func (c *Client) logs(ctx context.Context, query url.Values, show func(line string)) error {
	res, err := send(ctx, c.plain, request{path: []string{"api", "logs"}, query: query})
	if err != nil {
		return err
	}
	defer res.Body.Close() // it is only read
	d := newDecoder(res.Body)
	for {
		m, err := d.next()
		if errors.Is(err, io.EOF) {
			return io.EOF
		}
		if err != nil {
			return noAnswer(err)
		}
		var line string
		if err := json.Unmarshal([]byte(m.text), &line); err != nil {
			return misunderstood(err)
		}
		show(line)
	}
}
