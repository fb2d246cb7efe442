// Package openapi describes the API in the words of OpenAPI 3.0, made of the
// table of routes and of the Go types that they take and give: what is served
// and what is described cannot differ.
//
//	api.Route ─▶ path, operation, scope, parameters, answers
//	Go type   ─▶ schema: JSON tags name the fields, and say which must be there
//	constants ─▶ enum of a named string type
package openapi

import (
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"chela/internal/api"
)

// Names of the parts that operations refer to.
const (
	bearer = "bearer"
	cookie = "cookie"

	refused       = "Refused"
	refusedOpenAI = "RefusedByOpenAI"
)

// Document returns the OpenAPI document of routes, as JSON. Types that cannot be
// described are an Internal error.
func Document(routes []api.Route, version string) ([]byte, error) {
	d := &document{schemas: newSchemas(), T: openapi3.T{
		OpenAPI: "3.0.3",
		Info: &openapi3.Info{
			Title: "chela", Version: version,
			Description: "An agent of one's own. Bodies are JSON in UTF-8; unknown fields and parameters are refused. Every answer has the header " +
				api.RequestIDHeader + ". 429 and 503 say in Retry-After when to ask again.",
		},
		Paths: openapi3.NewPaths(), Components: &openapi3.Components{},
	}}
	if err := d.describeCommon(); err != nil {
		return nil, err
	}
	for _, r := range routes {
		if err := d.add(r); err != nil {
			return nil, fmt.Errorf("describe %s %s: %w", r.Method, r.Path, err)
		}
	}
	d.Components.Schemas = d.schemas.all
	return d.MarshalJSON()
}

// A document is an OpenAPI document that is being made.
type document struct {
	openapi3.T
	schemas *schemas
}

// describeCommon adds what many operations refer to: who may ask, and errors.
func (d *document) describeCommon() error {
	d.Components.SecuritySchemes = openapi3.SecuritySchemes{
		bearer: {Value: openapi3.NewSecurityScheme().WithType("http").WithScheme("bearer").WithDescription("A token, made with chela tokens create.")},
		cookie: {Value: openapi3.NewSecurityScheme().WithType("apiKey").WithIn("cookie").WithName(api.CookieName).
			WithDescription("Of a page that was logged in. Requests that change something bring " + api.CSRFHeader + " and come from the page itself.")},
	}
	body, err := d.schemas.of(api.ErrorBody{})
	if err != nil {
		return err
	}
	openAI := openapi3.NewObjectSchema().WithProperty("error", openapi3.NewObjectSchema().
		WithProperty("message", openapi3.NewStringSchema()).WithProperty("type", openapi3.NewStringSchema()).
		WithProperty("param", openapi3.NewStringSchema().WithNullable()).WithProperty("code", openapi3.NewStringSchema().WithNullable()).
		WithRequired([]string{"message", "type", "param", "code"})).WithRequired([]string{"error"})
	either := &openapi3.Schema{AnyOf: openapi3.SchemaRefs{openAI.NewRef(), body}}
	d.Components.Responses = openapi3.ResponseBodies{
		refused: {Value: openapi3.NewResponse().WithDescription("what kind of trouble it is, and how to cure it").
			WithContent(openapi3.NewContentWithSchemaRef(body, []string{api.JSON}))},
		refusedOpenAI: {Value: openapi3.NewResponse().WithDescription("an error as OpenAI tells it, or as other routes do if it was refused on the way to the route").
			WithContent(openapi3.NewContentWithSchema(either, []string{api.JSON}))},
	}
	return nil
}

// wildcard finds the parameters in a pattern of net/http.
var wildcard = regexp.MustCompile(`\{([a-z_]+)(\.\.\.)?\}`)

// add describes a route.
func (d *document) add(r api.Route) error {
	path := wildcard.ReplaceAllString(r.Path, "{$1}")
	op := openapi3.NewOperation()
	op.OperationID = operationID(r.Method, path)
	op.Summary = r.Summary
	op.Tags = []string{tag(r.Path)}
	op.Extensions = map[string]any{"x-scope": r.Scope}
	op.Security = openapi3.NewSecurityRequirements()
	op.Description = "Needs no token."
	if r.Scope != api.Public {
		op.Description = fmt.Sprintf("Needs the scope %s.", r.Scope)
		op.Security.With(openapi3.NewSecurityRequirement().Authenticate(bearer)).With(openapi3.NewSecurityRequirement().Authenticate(cookie))
	}
	for _, name := range wildcard.FindAllStringSubmatch(r.Path, -1) {
		op.AddParameter(openapi3.NewPathParameter(name[1]).WithSchema(openapi3.NewStringSchema()))
	}
	for _, p := range r.Query {
		op.AddParameter(openapi3.NewQueryParameter(p.Name).WithDescription(p.Summary).WithSchema(plain(p.Sample)))
	}
	for _, p := range r.Headers {
		op.AddParameter(openapi3.NewHeaderParameter(p.Name).WithDescription(p.Summary).WithSchema(plain(p.Sample)))
	}
	if err := d.describeBody(op, r); err != nil {
		return err
	}
	if err := d.describeAnswers(op, r); err != nil {
		return err
	}
	d.AddOperation(path, r.Method, op)
	return nil
}

// operationID names an operation, such as postApiTurnsIdCancel.
func operationID(method, path string) string {
	id := strings.ToLower(method)
	for _, word := range strings.FieldsFunc(path, func(c rune) bool { return strings.ContainsRune("/{}._-", c) }) {
		id += strings.ToUpper(word[:1]) + word[1:]
	}
	return id
}

// tag returns what a route is about: the noun in its path.
func tag(path string) string {
	first, rest, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	switch noun, _, _ := strings.Cut(rest, "/"); first {
	case "api":
		return noun
	case "v1":
		return "openai"
	default:
		return "daemon"
	}
}

// plain returns the schema of a parameter.
func plain(sample any) *openapi3.Schema {
	switch sample.(type) {
	case int:
		return openapi3.NewIntegerSchema()
	case bool:
		return openapi3.NewBoolSchema()
	default:
		return openapi3.NewStringSchema()
	}
}

func (d *document) describeBody(op *openapi3.Operation, r api.Route) error {
	if r.BodyType == "" {
		return nil
	}
	ref := openapi3.NewStringSchema().WithFormat("binary").NewRef()
	if r.Body != nil {
		var err error
		if ref, err = d.schemas.taken(r.Body); err != nil {
			return err
		}
	}
	op.RequestBody = &openapi3.RequestBodyRef{Value: openapi3.NewRequestBody().WithRequired(true).
		WithContent(openapi3.NewContentWithSchemaRef(ref, []string{r.BodyType}))}
	return nil
}

// describeAnswers adds the answer of success, and that of whatever else.
func (d *document) describeAnswers(op *openapi3.Operation, r api.Route) error {
	well := openapi3.NewResponse().WithDescription(meaning(r))
	if r.AnswerType != "" {
		ref := openapi3.NewStringSchema().NewRef()
		if r.Answer != nil {
			var err error
			if ref, err = d.schemas.of(r.Answer); err != nil {
				return err
			}
		}
		media, _, _ := strings.Cut(r.AnswerType, ";")
		well.WithContent(openapi3.NewContentWithSchemaRef(ref, []string{media}))
	}
	name := refused
	if strings.HasPrefix(r.Path, "/v1/") {
		name = refusedOpenAI
	}
	otherwise := &openapi3.ResponseRef{Ref: "#/components/responses/" + name, Value: d.Components.Responses[name].Value}
	op.Responses = openapi3.NewResponses(openapi3.WithStatus(r.Status, &openapi3.ResponseRef{Value: well}))
	op.Responses.Set("default", otherwise)
	if r.Scope != api.Public {
		op.Responses.Set(strconv.Itoa(http.StatusUnauthorized), otherwise)
		op.Responses.Set(strconv.Itoa(http.StatusForbidden), otherwise)
	}
	if _, ok := r.Answer.(api.Health); ok {
		why := openapi3.NewResponse().WithDescription("why not").WithContent(well.Content)
		op.Responses.Set(strconv.Itoa(http.StatusServiceUnavailable), &openapi3.ResponseRef{Value: why})
	}
	return nil
}

// meaning says what an answer of success is.
func meaning(r api.Route) string {
	switch {
	case r.Status == http.StatusSwitchingProtocols:
		return "the schema is that of each message, either way"
	case r.AnswerType == api.Stream:
		return "the schema is that of the data of each event"
	default:
		return http.StatusText(r.Status)
	}
}
