package geminitest

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"chela/internal/model/provider/providertest"
)

// request is the body of a request; a field that is not here is refused.
type request struct {
	System   *content  `json:"systemInstruction"`
	Contents []content `json:"contents"`
	Tools    []struct {
		Functions []function `json:"functionDeclarations"`
	} `json:"tools"`
	Config struct {
		MaxOutputTokens *int            `json:"maxOutputTokens"`
		Thinking        *thinkingConfig `json:"thinkingConfig"`
	} `json:"generationConfig"`
}

type thinkingConfig struct {
	Include bool   `json:"includeThoughts"`
	Budget  *int   `json:"thinkingBudget"`
	Level   string `json:"thinkingLevel"`
}

type function struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"parametersJsonSchema"`
}

type content struct {
	Role  string `json:"role"`
	Parts []part `json:"parts"`
}

type part struct {
	Text      *string `json:"text"`
	Thought   bool    `json:"thought"`
	Signature string  `json:"thoughtSignature"`
	Image     *image  `json:"inlineData"`
	Call      *struct {
		ID   string          `json:"id"`
		Name string          `json:"name"`
		Args json.RawMessage `json:"args"`
	} `json:"functionCall"`
	Result *struct {
		ID       string            `json:"id"`
		Name     string            `json:"name"`
		Response map[string]string `json:"response"` // of tools here; the real server takes any object
		Parts    []part            `json:"parts"`
	} `json:"functionResponse"`
}

type image struct {
	MediaType string `json:"mimeType"`
	Bytes     string `json:"data"`
}

var functionName = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$`)

func read(r *http.Request, body []byte) (providertest.ReceivedRequest, error) {
	model, method, _ := strings.Cut(r.PathValue("model"), ":")
	got := providertest.ReceivedRequest{Plain: method == "generateContent"}
	switch {
	case r.Header.Get("X-Goog-Api-Key") != providertest.Key || r.Header.Get("Content-Type") != "application/json":
		return got, errors.New("x-goog-api-key or content-type is missing")
	case !got.Plain && (method != "streamGenerateContent" || r.URL.Query().Get("alt") != "sse"):
		return got, fmt.Errorf("method %q is unknown, or streams without alt=sse", method)
	}
	var req request
	if err := providertest.Strict(body, &req); err != nil {
		return got, err
	}
	err := errors.Join(checkConfig(model, req), checkFunctions(req), checkSystem(req.System, &got))
	if err != nil {
		return got, err
	}
	if limit := req.Config.MaxOutputTokens; limit != nil {
		got.MaxTokens = *limit
	}
	rd := reader{got: &got, signs: generation(model) >= 3, images: generation(model) >= 3}
	return got, rd.contents(req.Contents)
}

// generation reads the number in a name such as gemini-2.5-flash; 0 if it has
// none.
func generation(model string) float64 {
	var n float64
	_, err := fmt.Sscanf(model, "gemini-%g", &n)
	if err != nil {
		return 0
	}
	return n
}

var withMinimal = regexp.MustCompile(`^gemini-3(\.[0-5])?-flash|^gemini-3(\.\d+)?-flash-lite`)

// checkConfig wants a budget for models of generation 2.5, and a level for later
// ones.
func checkConfig(model string, req request) error {
	limit, t := req.Config.MaxOutputTokens, req.Config.Thinking
	if limit != nil && *limit < 1 {
		return fmt.Errorf("max_output_tokens must be positive: %d", *limit)
	}
	if t == nil {
		return nil
	}
	least, most := 0, 24_576
	if strings.Contains(model, "-pro") {
		least, most = 128, 32_768
	}
	switch g := generation(model); {
	case t.Budget != nil && t.Level != "":
		return errors.New("you can only set only one of thinking budget and thinking level")
	case g < 2.5:
		return errors.New("thinking is not supported for this model")
	case g < 3 && t.Budget == nil:
		return errors.New("thinking level is not supported for this model")
	case g < 3 && (*t.Budget < least || *t.Budget > most || *t.Budget > 0 && *t.Budget < 128):
		return fmt.Errorf("the thinking budget %d is invalid", *t.Budget)
	case g >= 3 && !slices.Contains([]string{"LOW", "MEDIUM", "HIGH"}, t.Level) && !(t.Level == "MINIMAL" && withMinimal.MatchString(model)):
		return fmt.Errorf("thinking level %q is not supported for this model", t.Level)
	}
	return nil
}

func checkSystem(c *content, got *providertest.ReceivedRequest) error {
	if c == nil {
		return nil
	}
	for _, p := range c.Parts {
		if p.Text == nil || *p.Text == "" {
			return errors.New("system_instruction holds a part without text")
		}
		got.System += *p.Text
	}
	return nil
}

// keywords are those of JSON Schema that the server knows, and of those the ones
// that hold schemas.
var keywords = map[string]string{
	"$id": "", "$defs": "map", "$ref": "", "$anchor": "", "type": "", "format": "", "title": "", "description": "", "enum": "",
	"items": "one", "prefixItems": "list", "minItems": "", "maxItems": "", "minimum": "", "maximum": "",
	"anyOf": "list", "oneOf": "list", "properties": "map", "additionalProperties": "one", "required": "", "propertyOrdering": "",
}

func checkFunctions(req request) error {
	for _, tool := range req.Tools {
		for _, f := range tool.Functions {
			if !functionName.MatchString(f.Name) {
				return fmt.Errorf("function name %q must start with a letter or an underscore", f.Name)
			}
			var root object
			if json.Unmarshal(f.Schema, &root) != nil || root["type"] != "object" {
				return fmt.Errorf("function %q: schema must be of type object: %s", f.Name, f.Schema)
			}
			if err := checkSchema(root); err != nil {
				return fmt.Errorf("function %q: %w", f.Name, err)
			}
		}
	}
	return nil
}

func checkSchema(v any) error {
	schema, ok := v.(object)
	if !ok {
		if _, isBool := v.(bool); isBool {
			return nil // as additionalProperties
		}
		return fmt.Errorf("%v is no schema", v)
	}
	for name, value := range schema {
		holds, known := keywords[name]
		_, isRef := schema["$ref"]
		switch {
		case !known:
			return fmt.Errorf("unknown name %q: cannot find field", name)
		case isRef && name[0] != '$':
			return fmt.Errorf("%q beside $ref", name)
		}
		var inner []any
		switch holds {
		case "one":
			inner = []any{value}
		case "list":
			inner, ok = value.([]any)
		case "map":
			var all object
			all, ok = value.(object)
			for _, s := range all {
				inner = append(inner, s)
			}
		}
		if !ok {
			return fmt.Errorf("%q has another form", name)
		}
		for _, s := range inner {
			if err := checkSchema(s); err != nil {
				return err
			}
		}
	}
	return nil
}

// A reader walks the conversation of one request.
type reader struct {
	got    *providertest.ReceivedRequest
	signs  bool     // calls must be signed
	images bool     // results may hold images
	open   []string // calls of the content before, as id and name
}

func (r *reader) contents(contents []content) error {
	if len(contents) == 0 {
		return errors.New("contents is not specified")
	}
	last := len(contents) - 1
	for i, c := range contents {
		if c.Role != "user" && c.Role != "model" || len(c.Parts) == 0 {
			return fmt.Errorf("content %d: role %q with %d parts", i, c.Role, len(c.Parts))
		}
		if i == 0 && c.Role != "user" || i == last && c.Role != "user" {
			return errors.New("please ensure that multiturn requests begin and end with a user turn")
		}
		read := r.user
		if c.Role == "model" {
			read = r.model
		}
		if err := read(c.Parts); err != nil {
			return fmt.Errorf("content %d: %w", i, err)
		}
	}
	return nil
}

// user reads a content of the user: all results of the step before, or what a
// person says.
func (r *reader) user(parts []part) error {
	open := r.open
	r.open = nil
	for i, p := range parts {
		if len(open) == 0 {
			if err := r.shown(p, true); err != nil {
				return fmt.Errorf("part %d: %w", i, err)
			}
			continue
		}
		if len(parts) != len(open) || p.Result == nil {
			return errors.New("please ensure that the number of function response parts is equal to the number of function call parts of the function call turn")
		}
		if err := r.result(p, open[i]); err != nil {
			return fmt.Errorf("part %d: %w", i, err)
		}
	}
	return nil
}

func (r *reader) result(p part, call string) error {
	res := p.Result
	if res.ID+" "+res.Name != call || len(res.Response) != 1 {
		return fmt.Errorf("function response %q of %q does not match the call %q", res.ID, res.Name, call)
	}
	for key, text := range res.Response {
		if key != "output" && key != "error" {
			return fmt.Errorf("function response has %q", key)
		}
		if key == "error" {
			r.got.Failed++
		}
		if text != "" {
			r.got.Texts = append(r.got.Texts, text)
		}
	}
	if len(res.Parts) > 0 && !r.images {
		return errors.New("multimodal function responses are not supported for this model")
	}
	for _, inner := range res.Parts {
		if err := r.shown(inner, false); err != nil {
			return err
		}
	}
	return nil
}

// shown reads an image, or a text where one may stand.
func (r *reader) shown(p part, text bool) error {
	switch {
	case p.Call != nil || p.Result != nil || p.Signature != "" || p.Thought:
		return errors.New("a part of the user that only the model may have, or a result without a call")
	case p.Image != nil && p.Text == nil:
		raw, err := base64.StdEncoding.DecodeString(p.Image.Bytes)
		kinds := []string{"image/jpeg", "image/png", "image/gif", "image/webp"}
		if err != nil || !slices.Contains(kinds, p.Image.MediaType) {
			return fmt.Errorf("unsupported MIME type %q: %w", p.Image.MediaType, err)
		}
		sum := sha256.Sum256(raw)
		r.got.Images = append(r.got.Images, hex.EncodeToString(sum[:]))
	case text && p.Image == nil && p.Text != nil && *p.Text != "":
		r.got.Texts = append(r.got.Texts, *p.Text)
	default:
		return errors.New("required oneof field 'data' must have one initialized field")
	}
	return nil
}

// model reads what the model said. In each step the first call must be signed.
func (r *reader) model(parts []part) error {
	if r.open != nil {
		return errors.New("please ensure that function call turn comes immediately after a user turn or after a function response turn")
	}
	for i, p := range parts {
		var err error
		switch {
		case p.Call != nil && p.Text == nil && p.Image == nil && p.Result == nil:
			err = r.call(p)
		case p.Text != nil && *p.Text != "" && p.Image == nil && p.Call == nil && p.Result == nil:
			if !p.Thought {
				r.got.Texts = append(r.got.Texts, *p.Text)
			}
			err = r.signed(*p.Text, p.Signature)
		default:
			err = errors.New("required oneof field 'data' must have one initialized field")
		}
		if err != nil {
			return fmt.Errorf("part %d: %w", i, err)
		}
	}
	return nil
}

func (r *reader) call(p part) error {
	var args object
	key := p.Call.ID + " " + p.Call.Name
	switch {
	case !functionName.MatchString(p.Call.Name):
		return fmt.Errorf("invalid function name %q", p.Call.Name)
	case p.Call.ID == "" || slices.Contains(r.open, key):
		return fmt.Errorf("id %q of a call is empty or used twice", p.Call.ID)
	case json.Unmarshal(p.Call.Args, &args) != nil || args == nil:
		return fmt.Errorf("args %q are not an object", p.Call.Args)
	case r.signs && len(r.open) == 0 && p.Signature == "":
		return fmt.Errorf("function call is missing a thought_signature in functionCall parts: %q", p.Call.Name)
	}
	r.open = append(r.open, key)
	return r.signed(p.Call.Name, p.Signature)
}

// signed checks the signature of a part. One says that another model made the
// call.
func (r *reader) signed(of, signature string) error {
	switch signature {
	case "", "skip_thought_signature_validator":
		return nil
	case Sign(of):
		r.got.Thinking = append(r.got.Thinking, of)
		return nil
	default:
		return errors.New("corrupted thought signature")
	}
}
