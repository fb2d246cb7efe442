package gateway

import (
	"net/http"

	"chela"
	"chela/internal/api"
	"chela/internal/gateway/edge"
	"chela/internal/gateway/openai"
)

// A route is a row of the table of routes. Its methods write it, one property
// after the other.
type route edge.Route

func row(method, path string, scope chela.Scope, summary string) route {
	return route{
		Route: api.Route{Method: method, Path: path, Scope: scope, Summary: summary, Status: http.StatusNoContent},
		Limit: api.MaxBody,
	}
}

func get(path string, scope chela.Scope, summary string) route {
	return row(http.MethodGet, path, scope, summary)
}

func post(path string, scope chela.Scope, summary string) route {
	return row(http.MethodPost, path, scope, summary)
}

func patch(path string, scope chela.Scope, summary string) route {
	return row(http.MethodPatch, path, scope, summary)
}

func remove(path string, scope chela.Scope, summary string) route {
	return row(http.MethodDelete, path, scope, summary)
}

// takes says what the JSON body holds.
func (r route) takes(body any) route {
	r.Body, r.BodyType = body, api.JSON
	return r
}

// takesBytes says that the body is the content of a file.
func (r route) takesBytes() route {
	r.BodyType = api.Bytes
	return r
}

// takesLines says that the body is a JSON object a line.
func (r route) takesLines() route {
	r.BodyType = api.Lines
	return r
}

// upTo says how many bytes the body may have, where that is not MaxBody.
func (r route) upTo(limit int64) route {
	r.Limit = limit
	return r
}

// gives says what the JSON answer holds.
func (r route) gives(answer any) route {
	r.Answer, r.AnswerType, r.Status = answer, api.JSON, http.StatusOK
	return r
}

// as says what media type the answer has, where that is not JSON.
func (r route) as(media string) route {
	r.AnswerType, r.Status = media, http.StatusOK
	return r
}

// with says what status the answer has, where that is not 200, or 204 without
// content.
func (r route) with(status int) route {
	r.Status = status
	return r
}

func (r route) query(parameters ...api.Parameter) route {
	r.Query = parameters
	return r
}

func (r route) headers(parameters ...api.Parameter) route {
	r.Headers = parameters
	return r
}

func (r route) isMetered() route {
	r.Metered = true
	return r
}

func (r route) isLong() route {
	r.Long = true
	return r
}

func (r route) by(serve func(*edge.Visit) error) route {
	r.Serve = serve
	return r
}

// asOpenAI says that a route speaks OpenAI's protocol, in its errors too.
func (r route) asOpenAI(serve http.HandlerFunc) route {
	r.Refuse = openai.WriteError
	return r.by(func(v *edge.Visit) error {
		serve(v, v.Request)
		return nil
	})
}

func text(name, summary string) api.Parameter {
	return api.Parameter{Name: name, Summary: summary, Sample: ""}
}

func number(name, summary string) api.Parameter {
	return api.Parameter{Name: name, Summary: summary, Sample: 0}
}

func flag(name, summary string) api.Parameter {
	return api.Parameter{Name: name, Summary: summary, Sample: false}
}

func after(summary string) api.Parameter { return text("after", summary) }

func limit() api.Parameter { return number("limit", "rows of a page; 100 without it, at most 500") }
