package fake

import (
	"bytes"
	"errors"
)

var errNotChat = errors.New("the body is not a chat completion request")

// A question is what the fake has to know of a request.
type question struct {
	stream   bool
	usage    bool   // asked for in a stream
	answered bool   // the last message is the result of a tool
	user     []byte // the content of the last message of a person, as it is in the JSON
}

// readQuestion finds what matters in a request. A whole history and the schemas
// of all tools come with each request, and encoding/json takes several times as
// long to look at them as this does, on cores that are shared with what is
// measured. What is passed over is not checked.
func readQuestion(body []byte) (question, error) {
	var q question
	var messages []byte
	c := cursor{rest: body}
	whole := c.members(func(name string, value []byte) {
		switch name {
		case "stream":
			q.stream = string(value) == "true"
		case "stream_options":
			q.usage = bytes.Contains(value, []byte("true"))
		case "messages":
			messages = value
		}
	})
	if !whole || messages == nil {
		return question{}, errNotChat
	}
	var each [][]byte
	c = cursor{rest: messages}
	if !c.elements(func(value []byte) { each = append(each, value) }) {
		return question{}, errNotChat
	}
	for i := len(each) - 1; i >= 0 && q.user == nil; i-- {
		role, content := readMessage(each[i])
		q.answered = q.answered || i == len(each)-1 && role == `"tool"`
		if role == `"user"` {
			q.user = content
		}
	}
	return q, nil
}

// readMessage returns the role, in its quotes, and the content of a message.
func readMessage(message []byte) (role string, content []byte) {
	c := cursor{rest: message}
	c.members(func(name string, value []byte) {
		switch name {
		case "role":
			role = string(value)
		case "content":
			content = value
		}
	})
	return role, content
}

// A cursor walks over JSON.
type cursor struct{ rest []byte }

// members calls look with each member of the object at the cursor and reports
// whether it came to the object's end.
func (c *cursor) members(look func(name string, value []byte)) bool {
	if !c.take('{') {
		return false
	}
	for first := true; !c.take('}'); first = false {
		if !first && !c.take(',') {
			return false
		}
		name := c.value()
		if len(name) < 2 || name[0] != '"' || !c.take(':') {
			return false
		}
		value := c.value()
		if value == nil {
			return false
		}
		look(string(name[1:len(name)-1]), value)
	}
	return true
}

// elements calls look with each element of the array at the cursor and reports
// whether it came to the array's end.
func (c *cursor) elements(look func(value []byte)) bool {
	if !c.take('[') {
		return false
	}
	for first := true; !c.take(']'); first = false {
		if !first && !c.take(',') {
			return false
		}
		value := c.value()
		if value == nil {
			return false
		}
		look(value)
	}
	return true
}

// take passes one mark of punctuation and reports whether it was there.
func (c *cursor) take(mark byte) bool {
	c.rest = bytes.TrimLeft(c.rest, " \t\r\n")
	if len(c.rest) == 0 || c.rest[0] != mark {
		return false
	}
	c.rest = c.rest[1:]
	return true
}

// value passes one value and returns it, or nil if it has no end.
func (c *cursor) value() []byte {
	c.rest = bytes.TrimLeft(c.rest, " \t\r\n")
	n := valueEnd(c.rest)
	if n <= 0 {
		return nil
	}
	value := c.rest[:n]
	c.rest = c.rest[n:]
	return value
}

// valueEnd returns where the value ends that text begins with, or -1.
func valueEnd(text []byte) int {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			length := stringEnd(text[i:])
			if length < 0 {
				return -1
			}
			i += length - 1
			if depth == 0 {
				return i + 1
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
			if depth < 0 {
				return i // of a number or a word, which ends before
			}
		case ',', ' ', '\t', '\r', '\n':
			if depth == 0 {
				return i
			}
		}
	}
	return -1
}

// stringEnd returns the length of the string that text begins with, or -1.
func stringEnd(text []byte) int {
	for i := 1; ; {
		quote := bytes.IndexByte(text[i:], '"')
		if quote < 0 {
			return -1
		}
		escaped := bytes.IndexByte(text[i:i+quote], '\\')
		if escaped < 0 {
			return i + quote + 1
		}
		i += escaped + 2
		if i >= len(text) {
			return -1
		}
	}
}
