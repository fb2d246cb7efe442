package gateway

// This part of the package generates the OpenAPI 3.0 document from the table of
// routes and the Go types of their inputs and outputs, so that it cannot differ
// from the served API.
//
//	api.Route ─▶ path, operation, scope, parameters, answers
//	Go type   ─▶ schema: JSON tags name the fields, and say which must be there
//	constants ─▶ enum of a named string type

import (
	"cmp"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"chela"
	"chela/internal/api"
	"chela/internal/platform/schema"
)

// Names of the parts that operations refer to.
const (
	bearer       = "bearer"
	cookieScheme = "cookie"

	refused       = "Refused"
	refusedOpenAI = "RefusedByOpenAI"
)

// OpenAPIDocument returns the OpenAPI document of routes, as JSON. Types that cannot be
// described are an Internal error.
func OpenAPIDocument(routes []api.Route, version string) ([]byte, error) {
	d := &openapiDocument{components: components{set: api.Schemas(), all: openapi3.Schemas{}, known: map[*schema.Schema]bool{}, byHand: map[string]bool{}}, T: openapi3.T{
		OpenAPI: "3.0.3",
		Info: &openapi3.Info{
			Title: "chela", Version: version,
			Description: "An agent of one's own. Bodies are JSON in UTF-8; unknown fields and parameters are refused. Every answer has the header " +
				api.RequestIDHeader + ". 429 and 503 say in Retry-After when to ask again. Lists come in pages, by limit and after. " +
				"Spans of time are whole milliseconds, in fields and parameters whose names end in _ms.",
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
	if d.components.collides {
		return nil, chela.E(chela.Internal, "a type has the name of a schema that is written by hand")
	}
	d.Components.Schemas = d.components.all
	return d.MarshalJSON()
}

// A openapiDocument is an OpenAPI document under construction.
type openapiDocument struct {
	openapi3.T
	components components
}

// describeCommon adds the parts shared by many operations: authentication, and
// errors.
func (d *openapiDocument) describeCommon() error {
	d.Components.SecuritySchemes = openapi3.SecuritySchemes{
		bearer: {Value: openapi3.NewSecurityScheme().WithType("http").WithScheme("bearer").WithDescription("A token, made with chela tokens create.")},
		cookieScheme: {Value: openapi3.NewSecurityScheme().WithType("apiKey").WithIn("cookie").WithName(api.CookieName).
			WithDescription("Of a page that was logged in. Requests that change something bring " + api.CSRFHeader + " and come from the page itself.")},
	}
	body, err := d.components.of(api.ErrorBody{})
	if err != nil {
		return err
	}
	openAI := openapi3.NewObjectSchema().WithProperty("error", openapi3.NewObjectSchema().
		WithProperty("message", openapi3.NewStringSchema()).WithProperty("type", openapi3.NewStringSchema()).
		WithProperty("param", openapi3.NewStringSchema().WithNullable()).WithProperty("code", openapi3.NewStringSchema().WithNullable()).
		WithRequired([]string{"message", "type", "param", "code"})).WithRequired([]string{"error"})
	either := &openapi3.Schema{AnyOf: openapi3.SchemaRefs{openAI.NewRef(), body}}
	d.Components.Headers = openapi3.Headers{api.RequestIDHeader: {Value: &openapi3.Header{Parameter: openapi3.Parameter{
		Description: "the id of the request, as in the log", Required: true, Schema: openapi3.NewStringSchema().WithPattern(`^req_[0-9a-z]+$`).NewRef(),
	}}}}
	d.Components.Responses = openapi3.ResponseBodies{
		refused: {Value: openapi3.NewResponse().WithDescription("what kind of trouble it is, and how to cure it").
			WithContent(openapi3.NewContentWithSchemaRef(body, []string{api.JSON}))},
		refusedOpenAI: {Value: openapi3.NewResponse().WithDescription("an error as OpenAI tells it, or as other routes do if it was refused on the way to the route").
			WithContent(openapi3.NewContentWithSchema(either, []string{api.JSON}))},
	}
	for _, response := range d.Components.Responses {
		response.Value.Headers = commonHeaders()
		response.Value.Headers["Retry-After"] = &openapi3.HeaderRef{Value: &openapi3.Header{Parameter: openapi3.Parameter{
			Description: "with 429 and 503: the seconds until the request may be sent again", Schema: openapi3.NewIntegerSchema().WithMin(1).NewRef(),
		}}}
	}
	return nil
}

// add describes a route.
func (d *openapiDocument) add(r api.Route) error {
	path := strings.ReplaceAll(r.Path, "...}", "}")
	op := openapi3.NewOperation()
	op.OperationID = operationID(r.Method, path)
	op.Summary = r.Summary
	op.Tags = []string{tagOf(r.Path)}
	op.Extensions = map[string]any{"x-scope": r.Scope}
	op.Security = openapi3.NewSecurityRequirements()
	op.Description = "Needs no token."
	if r.Scope != api.Public {
		op.Description = fmt.Sprintf("Needs the scope %s.", r.Scope)
		op.Security.With(openapi3.NewSecurityRequirement().Authenticate(bearer)).With(openapi3.NewSecurityRequirement().Authenticate(cookieScheme))
	}
	d.AddOperation(path, r.Method, op)
	return cmp.Or(
		d.describeParameters(op, r.Names(), openapi3.NewPathParameter), d.describeParameters(op, r.Query, openapi3.NewQueryParameter),
		d.describeParameters(op, r.AllHeaders(), openapi3.NewHeaderParameter), d.describeBody(op, r), d.describeAnswers(op, r),
	)
}

// operationID names an operation, such as postApiTurnsIdCancel.
func operationID(method, path string) string {
	id := strings.ToLower(method)
	for _, word := range strings.FieldsFunc(path, func(c rune) bool { return strings.ContainsRune("/{}._-", c) }) {
		id += strings.ToUpper(word[:1]) + word[1:]
	}
	return id
}

// tagOf returns the tag of a route: the noun in its path.
func tagOf(path string) string {
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

// describeParameters adds parameters to an operation.
func (d *openapiDocument) describeParameters(op *openapi3.Operation, all []api.Parameter, in func(name string) *openapi3.Parameter) error {
	for _, p := range all {
		limits, err := p.Schema()
		if err != nil {
			return err
		}
		made := in(p.Name).WithDescription(p.Summary).WithRequired(p.Required)
		if made.Schema = d.components.ref(limits); p.Many {
			made.Style, made.Explode = openapi3.SerializationForm, new(false)
		}
		op.AddParameter(made)
	}
	return nil
}

func (d *openapiDocument) describeBody(op *openapi3.Operation, r api.Route) error {
	if r.BodyType == "" {
		return nil
	}
	ref := openapi3.NewStringSchema().WithFormat("binary").NewRef()
	if r.Body != nil {
		var err error
		if ref, err = d.components.of(r.Body); err != nil {
			return err
		}
	}
	op.RequestBody = &openapi3.RequestBodyRef{Value: openapi3.NewRequestBody().WithRequired(!r.Optional).
		WithContent(openapi3.NewContentWithSchemaRef(ref, []string{r.BodyType}))}
	return nil
}

// describeAnswers adds the responses of success, and of refusals.
func (d *openapiDocument) describeAnswers(op *openapi3.Operation, r api.Route) error {
	well := openapi3.NewResponse().WithDescription(meaning(r))
	well.Headers = commonHeaders()
	if r.AnswerType != "" {
		ref := openapi3.NewStringSchema().NewRef()
		if r.Answer != nil {
			var err error
			if ref, err = d.components.of(r.Answer); err != nil {
				return err
			}
		}
		media, _, _ := strings.Cut(r.AnswerType, ";")
		well.WithContent(openapi3.NewContentWithSchemaRef(ref, []string{media}))
	}
	if r.Streams {
		well.Content[api.Stream] = openapi3.NewMediaType() // its last event is not JSON
	}
	op.Responses = openapi3.NewResponses(openapi3.WithStatus(r.Status, &openapi3.ResponseRef{Value: well}))
	for _, status := range r.Also {
		op.Responses.Set(strconv.Itoa(status), &openapi3.ResponseRef{Value: well})
	}
	name := refused
	if strings.HasPrefix(r.Path, "/v1/") {
		name = refusedOpenAI
	}
	otherwise := &openapi3.ResponseRef{Ref: "#/components/responses/" + name}
	for _, status := range refusals(r) {
		op.Responses.Set(strconv.Itoa(status), otherwise)
	}
	if _, ok := r.Answer.(api.Health); ok {
		why := openapi3.NewResponse().WithDescription("why not").WithContent(well.Content)
		why.Headers = commonHeaders()
		op.Responses.Set(strconv.Itoa(http.StatusServiceUnavailable), &openapi3.ResponseRef{Value: why})
	}
	return nil
}

// commonHeaders are the headers of every response.
func commonHeaders() openapi3.Headers {
	return openapi3.Headers{api.RequestIDHeader: {Ref: "#/components/headers/" + api.RequestIDHeader}}
}

// refusals returns the error statuses of a route.
func refusals(r api.Route) []int {
	statuses := []int{
		http.StatusForbidden, http.StatusMisdirectedRequest, http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusServiceUnavailable,
	}
	_, health := r.Answer.(api.Health)
	plain := health || r.AnswerType == api.HTML
	if r.Scope != api.Public || r.Path == "/api/login" || strings.HasPrefix(r.Path, "/hooks/") {
		statuses = append(statuses, http.StatusUnauthorized)
	}
	if !plain {
		statuses = append(statuses, http.StatusBadRequest, http.StatusNotFound, http.StatusConflict, http.StatusNotImplemented)
	}
	if r.Status == http.StatusSwitchingProtocols {
		statuses = append(statuses, http.StatusUpgradeRequired)
	}
	if strings.HasPrefix(r.Path, "/v1/") {
		statuses = append(statuses, http.StatusBadGateway)
	}
	if r.BodyType != "" {
		statuses = append(statuses, http.StatusRequestTimeout, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType)
	}
	return statuses
}

// meaning describes a successful response.
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
