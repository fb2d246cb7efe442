package wire

import (
	"encoding/base64"
	"encoding/json"
	"strconv"

	"chela"
)

// JSON is a JSON text that is written piece by piece. Requests are written by
// hand for speed: each step sends the whole conversation. Items of a list or
// object are written with a comma after each, and End removes the last one.
type JSON []byte

// Raw appends text as it is.
func (j *JSON) Raw(text string) *JSON {
	*j = append(*j, text...)
	return j
}

// Bytes appends raw as it is, after before.
func (j *JSON) Bytes(before string, raw []byte) *JSON {
	*j = append(append(*j, before...), raw...)
	return j
}

// String appends s as a string, after before.
func (j *JSON) String(before, s string) *JSON {
	*j = AppendString(append(*j, before...), s)
	return j
}

// Quoted appends raw as a string, after before.
func (j *JSON) Quoted(before string, raw []byte) *JSON {
	*j = AppendString(append(*j, before...), raw)
	return j
}

// Base64 appends raw in base64 and a quote, after before, which begins the string.
func (j *JSON) Base64(before string, raw []byte) *JSON {
	*j = base64.StdEncoding.AppendEncode(append(*j, before...), raw)
	return j.Raw(`"`)
}

// Int appends a number, after before.
func (j *JSON) Int(before string, n int) *JSON {
	*j = strconv.AppendInt(append(*j, before...), int64(n), 10)
	return j
}

// Tool appends the name of a tool, after before, and its description if it has one.
func (j *JSON) Tool(before string, t chela.ToolSpec) *JSON {
	if j.String(before, t.Name); t.Description != "" {
		j.String(`,"description":`, t.Description)
	}
	return j
}

// End appends the end of a list or an object in place of the comma after its last
// item.
func (j *JSON) End(text string) *JSON {
	if n := len(*j); n > 0 && (*j)[n-1] == ',' {
		*j = (*j)[:n-1]
	}
	return j.Raw(text)
}

// Members appends the members of object, a value whose JSON form is an object,
// each preceded by a comma. The caller ensures that object encodes: raw JSON in it
// has been checked.
func (j *JSON) Members(object any) *JSON {
	raw, err := json.Marshal(object)
	if err != nil || len(raw) <= len("{}") {
		return j
	}
	return j.Bytes(",", raw[1:len(raw)-1])
}
