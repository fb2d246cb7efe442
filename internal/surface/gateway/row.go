package gateway

import (
	"net/http"
	"strings"

	"chela"
	"chela/internal/api"
	"chela/internal/platform/schema"
	"chela/internal/surface/gateway/edge"
	"chela/internal/surface/gateway/openai/wire"
)

// A route is a row of the table of routes. Its methods set one property each.
type route edge.Route

// row returns a route of a pattern, such as "GET /healthz".
func row(pattern string, scope chela.Scope, summary string) route {
	method, path, _ := strings.Cut(pattern, " ")
	return route{
		Route: api.Route{Method: method, Path: path, Scope: scope, Summary: summary, Status: http.StatusNoContent},
		Limit: api.MaxBody,
	}
}

// takes declares the JSON body.
func (r route) takes(body any) route {
	r.Body, r.BodyType = body, api.JSON
	return r
}

// takesMedia declares a body of another media type.
func (r route) takesMedia(media string) route {
	r.BodyType = media
	return r
}

// upTo sets the size limit of the body, if it is not MaxBody.
func (r route) upTo(limit int64) route {
	r.Limit = limit
	return r
}

// gives declares the JSON response.
func (r route) gives(answer any) route {
	r.Answer, r.AnswerType, r.Status = answer, api.JSON, http.StatusOK
	return r
}

// as sets the media type of the response, if it is not JSON.
func (r route) as(media string) route {
	r.AnswerType, r.Status = media, http.StatusOK
	return r
}

// with sets the status of the response, if it is not 200, or 204 without
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

// joins declares the handler as idempotent by key: it is called again for a
// retried request.
func (r route) joins() route {
	r.Repeat = api.Joined
	return r
}

// also declares a further status of success.
func (r route) also(status int) route {
	r.Also = append(r.Also, status)
	return r
}

// streams declares that the response is a stream of events if the body, or the
// header Accept, asks for one.
func (r route) streams() route {
	r.Streams = true
	return r
}

func (r route) by(serve func(*edge.Visit) error) route {
	r.Serve = serve
	return r
}

// asOpenAI declares a route of OpenAI's protocol, including its errors.
func (r route) asOpenAI(serve func(*edge.Visit) error) route {
	r.Refuse = wire.WriteError
	return r.by(serve)
}

func flag(name, summary string) api.Parameter {
	return api.Parameter{Name: name, Summary: summary, Type: schema.Boolean}
}

// held is a text with limits, in the words of the tag check of package schema.
func held(name, summary, check string) api.Parameter {
	return api.Parameter{Name: name, Summary: summary, Check: check}
}

func required(p api.Parameter) api.Parameter {
	p.Required = true
	return p
}

// several declares a comma-separated list of texts in a query.
func several(p api.Parameter) api.Parameter {
	p.Many = true
	return p
}
