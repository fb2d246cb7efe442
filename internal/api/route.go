package api

import "chela"

// Public is the scope of routes that ask for no token.
const Public chela.Scope = "public"

// Media types of bodies and answers.
const (
	JSON   = "application/json"
	Bytes  = "application/octet-stream"
	Stream = "text/event-stream"
	Lines  = "application/x-ndjson" // a JSON object a line
	HTML   = "text/html; charset=utf-8"
)

// A Route is one row of the API: what may be asked, by whom, and what comes
// back. Every route that a gateway serves has one.
type Route struct {
	Method  string
	Path    string // as a pattern of net/http, such as /api/turns/{id}
	Scope   chela.Scope
	Summary string // one clause, without a full stop
	Query   []Parameter
	Headers []Parameter // beside those of every request

	Body     any    // the zero value of what a JSON body holds; nil without one
	BodyType string // media type of the body: JSON where Body is set, empty without one

	Answer     any    // the zero value of what a JSON answer, or the data of one event, holds
	AnswerType string // media type of the answer; empty when it has no body
	Status     int    // of success
}

// A Parameter is one value in the query or the headers of a request. None is
// required.
type Parameter struct {
	Name    string
	Summary string
	Sample  any // a value of the type that it has: string, int or bool
}
