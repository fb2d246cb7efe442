package edge

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"unicode/utf8"

	"chela"
	"chela/internal/api"
)

// Decode reads the JSON body of a request into the value that into points to.
// Whatever is not what the route takes is Invalid.
func (v *Visit) Decode(into any) error {
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
	return Decode(raw, into)
}

// Decode takes JSON that was read already apart, by the same rules.
func Decode(raw []byte, into any) error {
	switch {
	case len(raw) == 0:
		return chela.E(chela.Invalid, "there is no body").WithHint("send a JSON object")
	case !utf8.Valid(raw):
		return chela.E(chela.Invalid, "the body is not valid UTF-8").WithHint("convert it, for example with iconv -t utf-8")
	case hasNUL(raw):
		return chela.E(chela.Invalid, "the body has a NUL character in it").WithHint("send text, or files as attachments")
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return chela.E(chela.Invalid, describe(err)).WithHint("see /api/openapi.json for what is taken")
	}
	if rest := bytes.TrimLeft(raw[d.InputOffset():], " \t\r\n"); len(rest) > 0 {
		return chela.E(chela.Invalid, fmt.Sprintf("the body goes on after its end, at byte %d", len(raw)-len(rest)))
	}
	return nil
}

// describe says what is wrong with a body.
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
	if text, ok := strings.CutPrefix(err.Error(), "json: "); ok {
		return "the body has an " + text
	}
	return "the body holds a value that has not its form, such as base64 or a time"
}

// hasNUL reports whether a JSON text escapes a NUL character, which no database
// keeps in a text.
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
