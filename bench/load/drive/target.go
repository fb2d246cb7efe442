// Package drive loads a server: with turns through Chat Completions, whoever
// offers them, and with readers of the events of a chela.
package drive

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"chela"
	"chela/bench/load/mark"
)

// DefaultTimeout is how long a turn may take.
const DefaultTimeout = time.Minute

// A Target is a server that speaks Chat Completions.
type Target struct {
	URL     string // up to and including the version
	Token   string // sent as bearer token; empty for none
	Model   string
	Stream  bool
	Timeout time.Duration // of a whole turn; 0 means DefaultTimeout
}

// newClient returns a client that keeps as many connections as are used at
// once.
func newClient(connections int) *http.Client {
	return &http.Client{Transport: &http.Transport{
		MaxIdleConns: connections, MaxIdleConnsPerHost: connections,
		DialContext: (&net.Dialer{Timeout: 10 * time.Second}).DialContext,
	}}
}

// A message is one turn to be asked for.
type message struct {
	session string
	number  int64 // of its mark
}

// An answer is how a turn ended.
type answer struct {
	first  time.Time     // when the first text came; zero unless streaming
	status string        // ok, or what went wrong in a word or two
	detail string        // what was said about it
	after  time.Duration // a refusal said to come again after it; 0 if it did not
}

// The words for endings that have no HTTP status.
const (
	ok          = "ok"
	wrongAnswer = "wrong answer"
	cutShort    = "cut short"
	noAnswer    = "no answer"
	tooLate     = "timeout"
)

func failed(status string, err error) answer {
	var ne net.Error
	if errors.As(err, &ne) && ne.Timeout() {
		status = tooLate
	}
	return answer{status: status, detail: err.Error()}
}

// body is the request for a turn. The official clients send their keys in this
// order too.
func (t Target) body(m message) ([]byte, error) {
	type said struct {
		Role    string `json:"role"`
		Content string `json:"content"`
	}
	return json.Marshal(struct {
		Model    string `json:"model"`
		Messages []said `json:"messages"`
		Stream   bool   `json:"stream,omitempty"`
		User     string `json:"user"`
	}{t.Model, []said{{"user", "Please say " + mark.Of(m.number)}}, t.Stream, m.session})
}

func (t Target) request(ctx context.Context, method, url string, body []byte) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		return nil, chela.E(chela.Invalid, fmt.Sprintf("%q is not the address of a server", t.URL)).Because(err)
	}
	if t.Token != "" {
		req.Header.Set("Authorization", "Bearer "+t.Token)
	}
	if len(body) > 0 {
		req.Header.Set("Content-Type", "application/json")
	}
	return req, nil
}

// ask has one turn. The clock tells when the first text came. An error means
// that nothing could be asked at all.
func (t Target) ask(ctx context.Context, client *http.Client, m message, now func() time.Time) (answer, error) {
	timeout := t.Timeout
	if timeout == 0 {
		timeout = DefaultTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	body, err := t.body(m)
	if err != nil {
		return answer{}, err
	}
	req, err := t.request(ctx, http.MethodPost, strings.TrimSuffix(t.URL, "/")+"/chat/completions", body)
	if err != nil {
		return answer{}, err
	}
	res, err := client.Do(req)
	if err != nil {
		return failed(noAnswer, err), nil
	}
	defer res.Body.Close()
	switch {
	case res.StatusCode != http.StatusOK:
		return refused(res), nil
	case t.Stream:
		return readStream(res.Body, m.number, now), nil
	default:
		return readWhole(res.Body, m.number), nil
	}
}

// refused reads what a server says instead of an answer. The body is read to
// its end, so that the connection can be used again.
func refused(res *http.Response) answer {
	said, err := io.ReadAll(io.LimitReader(res.Body, 64<<10))
	if err != nil {
		return failed(cutShort, err)
	}
	seconds, _ := strconv.Atoi(res.Header.Get("Retry-After")) // a date, or nothing, is 0
	return answer{
		status: fmt.Sprint(res.StatusCode), detail: strings.TrimSpace(string(said)), after: time.Duration(seconds) * time.Second,
	}
}

func readWhole(r io.Reader, number int64) answer {
	raw, err := io.ReadAll(r)
	if err != nil {
		return failed(cutShort, err)
	}
	var whole struct {
		Choices []struct{ Message struct{ Content string } }
	}
	if err := json.Unmarshal(raw, &whole); err != nil || len(whole.Choices) == 0 {
		return answer{status: wrongAnswer, detail: string(raw)}
	}
	return judge(answer{}, whole.Choices[0].Message.Content, number)
}

// readStream reads until the mark [DONE]. Without it the answer was cut short.
func readStream(r io.Reader, number int64, now func() time.Time) answer {
	var a answer
	var text strings.Builder
	done := false
	for f, err := range frames(r) {
		if err != nil {
			return failed(cutShort, err)
		}
		if string(f.data) == "[DONE]" {
			done = true
			continue // to the end, so that the connection can be used again
		}
		var chunk struct {
			Choices []struct{ Delta struct{ Content string } }
			Error   json.RawMessage
		}
		if err := json.Unmarshal(f.data, &chunk); err != nil || chunk.Error != nil {
			return answer{status: wrongAnswer, detail: string(f.data)}
		}
		for _, c := range chunk.Choices {
			if a.first.IsZero() && c.Delta.Content != "" {
				a.first = now()
			}
			text.WriteString(c.Delta.Content)
		}
	}
	if !done {
		return answer{status: cutShort, detail: "the stream ended without [DONE]"}
	}
	return judge(a, text.String(), number)
}

// judge looks whether the text answers the message of that number.
func judge(a answer, text string, number int64) answer {
	a.status = ok
	if !mark.In(text, number) {
		a.status, a.detail = wrongAnswer, text
	}
	return a
}
