package edge

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"unicode/utf8"

	"chela"
	"chela/internal/api"
	"chela/internal/platform/schema"
)

// Decode decodes the JSON body of a request into the value that into points to.
// A body that does not fit the route's schema is Invalid.
func (v *Visit) Decode(into any) error {
	if v.route.Optional && v.body == nil {
		return nil
	}
	if media := v.Request.Header.Get("Content-Type"); media != api.JSON {
		if parsed, _, err := mime.ParseMediaType(media); err != nil || parsed != api.JSON {
			return Refusal{
				Err:    chela.E(chela.Invalid, fmt.Sprintf("the body is %.60q, not JSON", media)).WithHint("send Content-Type: application/json"),
				Status: http.StatusUnsupportedMediaType,
			}
		}
	}
	raw, err := v.Body()
	if err != nil {
		return err
	}
	return v.Take(raw, into)
}

// Take decodes JSON that was already read, by the same rules: a body, or a
// frame of a WebSocket.
func (v *Visit) Take(raw []byte, into any) error {
	limits, err := v.route.limits()
	if err != nil {
		return err
	}
	return decode(raw, limits.body, into)
}

// decode decodes JSON that fits a schema. Without a schema any JSON is
// accepted.
func decode(raw []byte, limits *schema.Schema, into any) error {
	switch {
	case len(raw) == 0:
		return chela.E(chela.Invalid, "there is no body").WithHint("send a JSON object")
	case !utf8.Valid(raw):
		return chela.E(chela.Invalid, "the body is not valid UTF-8").WithHint("convert it, for example with iconv -t utf-8")
	case hasNUL(raw):
		return chela.E(chela.Invalid, "the body has a NUL character in it").WithHint("send text, or files as attachments")
	case !json.Valid(raw):
		return chela.E(chela.Invalid, notJSON(raw)).WithHint("see /api/openapi.json for what is taken")
	}
	if limits != nil {
		if err := limits.Check(raw); err != nil {
			return err
		}
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return chela.E(chela.Invalid, describe(err)).WithHint("see /api/openapi.json for what is taken")
	}
	return nil
}

// notJSON says why a body is not JSON.
func notJSON(raw []byte) string {
	var any json.RawMessage
	d := json.NewDecoder(bytes.NewReader(raw))
	if err := d.Decode(&any); err != nil {
		return describe(err)
	}
	rest := bytes.TrimLeft(raw[d.InputOffset():], " \t\r\n")
	return fmt.Sprintf("the body goes on after its end, at byte %d", len(raw)-len(rest))
}

// describe words the error of a body.
func describe(err error) string {
	var syntax *json.SyntaxError
	var wrong *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return fmt.Sprintf("the body is not JSON at byte %d", syntax.Offset)
	case errors.As(err, &wrong) && wrong.Field != "":
		return fmt.Sprintf("field %s cannot be a JSON %s", wrong.Field, wrong.Value)
	case errors.As(err, &wrong):
		return fmt.Sprintf("the body is a JSON %s, not an object", wrong.Value)
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return "the body is not JSON: it ends too early"
	}
	return "the body holds a value that has not its form, such as base64 or a time"
}

// hasNUL reports whether a JSON text escapes a NUL character, which no database
// stores in a text.
func hasNUL(raw []byte) bool {
	for rest := raw; ; {
		i := bytes.Index(rest, []byte(`\u0000`))
		if i < 0 {
			return false
		}
		before := rest[:i+1]
		if escapes := len(before) - len(bytes.TrimRight(before, `\`)); escapes%2 == 1 {
			return true
		}
		rest = rest[i+6:]
	}
}
