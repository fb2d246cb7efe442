package openai

import (
	"bytes"
	"cmp"

	"chela/internal/model/provider/wire"
)

// details are reasoning details that OpenRouter requires back unchanged; see
// https://openrouter.ai/docs/use-cases/reasoning-tokens.
type details []detail

// A detail is one reasoning detail, assembled from its pieces.
type detail struct {
	members []member // all but the text, in order
	name    string   // name of the member with the text: text, summary or data
	text    []byte
}

type member struct {
	name  string
	value []byte
}

// add applies pieces. A piece with the index and type of the last one continues
// it: its text is appended, and its other members replace earlier values. It
// returns the number of encrypted bytes; texts and summaries are also sent
// beside the details.
func (d *details) add(pieces []wire.Value) (secret int) {
	for _, piece := range pieces {
		next := detail{}
		for name, v := range piece.Members() {
			switch name {
			case "text", "summary", "data":
				next.name, next.text = name, []byte(v.Text())
				if name == "data" {
					secret += len(next.text)
				}
			default:
				next.set(name, v)
			}
		}
		if n := len(*d); n > 0 && (*d)[n-1].continues(next) {
			(*d)[n-1].grow(next)
			continue
		}
		*d = append(*d, next)
	}
	return secret
}

// grow appends a further piece to d.
func (d *detail) grow(next detail) {
	d.name = cmp.Or(d.name, next.name)
	d.text = append(d.text, next.text...)
	for _, m := range next.members {
		d.set(m.name, m.value)
	}
}

// continues reports whether next is a further piece of d.
func (d *detail) continues(next detail) bool {
	for _, name := range []string{"type", "index"} {
		if !bytes.Equal(d.get(name), next.get(name)) {
			return false
		}
	}
	return d.get("index") != nil && (next.name == "" || d.name == "" || next.name == d.name)
}

func (d *detail) get(name string) []byte {
	for _, m := range d.members {
		if m.name == name {
			return m.value
		}
	}
	return nil
}

// set sets a member. An empty value does not replace an earlier one.
func (d *detail) set(name string, value []byte) {
	for i, m := range d.members {
		if m.name == name {
			if string(value) != "null" {
				d.members[i].value = bytes.Clone(value)
			}
			return
		}
	}
	d.members = append(d.members, member{name, bytes.Clone(value)})
}

// String returns the details as a JSON list; empty if there are none.
func (d details) String() string {
	if len(d) == 0 {
		return ""
	}
	var j wire.JSON
	j.Raw("[")
	for _, one := range d {
		j.Raw("{")
		for _, m := range one.members {
			j.Raw(`"`).Raw(m.name).Bytes(`":`, m.value).Raw(",")
		}
		if one.name != "" {
			j.Raw(`"`).Raw(one.name).Quoted(`":`, one.text)
		}
		j.End("},")
	}
	return string(*j.End("]"))
}
