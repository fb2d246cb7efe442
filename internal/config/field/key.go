package field

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"chela"
)

// A Key is one key of a section of config.toml: a field of a struct, which says in
// its tags what values it takes.
//
//	key:"steps"           the name of the key, or of a nested section
//	default:"50"          the value unless another is set
//	env:"NAME"            its environment variable besides the CHELA_ name
//	range:"1..1000"       of a number, a duration or an amount in dollars
//	words:"a b" later:"c" the words that a text may be, and words of later versions
//	alias:"old=a"         words of earlier versions, with those that they mean
//	is:"line"             the form of a text, or of each text of a list
//	want:"a name"         what messages call the form
//	secret:"true"         the given value is not repeated in messages
type Key struct {
	Name, Env string

	index []int
	tag   reflect.StructTag
	form  Form
}

// A Form is a named form of values.
type Form struct {
	Want  string // the expected form, for messages
	Valid func(text string) bool
	Words []string                    // the words that a text may be
	Wrap  func(f Field, at any) Field // changes or replaces the field at a pointer
}

// Keys returns the keys of a section, nested ones with dots. A field with a form that
// does not exist is a mistake of the programmer.
func Keys(section reflect.Type, forms map[string]Form) []Key {
	var keys []Key
	for _, member := range reflect.VisibleFields(section) {
		name, ok := member.Tag.Lookup("key")
		if !ok {
			continue
		}
		is := member.Tag.Get("is")
		form, known := forms[is]
		switch {
		case known || is == "" && member.Type.Kind() != reflect.Struct:
			keys = append(keys, Key{name, member.Tag.Get("env"), member.Index, member.Tag, form})
		case is == "":
			for _, k := range Keys(member.Type, forms) {
				k.Name, k.index = name+"."+k.Name, slices.Concat(member.Index, k.index)
				keys = append(keys, k)
			}
		default:
			panic(fmt.Sprintf("config: the key %s has the unknown form %s", name, is))
		}
	}
	return keys
}

// Defaults stores the defaults of keys in a section.
func Defaults(keys []Key, section any) {
	for _, k := range keys {
		if value, ok := k.tag.Lookup("default"); ok {
			f := k.In(section)
			if err := f.Put(f.Value(value)); err != nil {
				panic(fmt.Sprintf("config: the default of %s: %v", k.Name, err))
			}
		}
	}
}

// In returns the field of the key in a section, which is a pointer to a struct.
func (k Key) In(section any) Field {
	of := reflect.ValueOf(section).Elem().FieldByIndex(k.index)
	at := of.Addr().Interface()
	f := k.plain(of, at)
	if k.form.Wrap != nil {
		f = k.form.Wrap(f, at)
	}
	f.Secret = f.Secret || k.tag.Get("secret") != ""
	return f
}

// plain returns the field of a value at a pointer, by its type.
func (k Key) plain(of reflect.Value, at any) Field {
	want := cmp.Or(k.tag.Get("want"), k.form.Want)
	switch at := at.(type) {
	case *int:
		low, high := bounds(k, func(s string) (int64, error) { return strconv.ParseInt(s, 0, 64) }) // may have "_" between digits
		return Number(at, int(low), int(high))
	case *bool:
		return Switch(at)
	case *time.Duration:
		low, high := bounds(k, time.ParseDuration)
		return span(at, low, high)
	case *chela.MicroUSD:
		_, high := bounds(k, chela.ParseUSD)
		return dollars(at, high)
	case **chela.MicroUSD:
		_, high := bounds(k, chela.ParseUSD)
		return price(at, high)
	case *[]string:
		return List(at, want, k.form.Valid)
	case *string:
		if k.form.Valid != nil {
			return Text(at, want, k.form.Valid)
		}
	}
	f := choice(of, append(strings.Fields(k.tag.Get("words")), k.form.Words...), strings.Fields(k.tag.Get("later")))
	return f.aliased(strings.Fields(k.tag.Get("alias")))
}

// aliased returns the field of a choice that takes words of earlier versions too, given
// as "old=new".
func (f Field) aliased(aliases []string) Field {
	put := f.Put
	f.Put = func(v any) error {
		for _, alias := range aliases {
			if old, word, _ := strings.Cut(alias, "="); v == any(old) {
				v = word
			}
		}
		return put(v)
	}
	return f
}

// bounds returns the range of a key.
func bounds[T any](k Key, parse func(string) (T, error)) (low, high T) {
	from, to, _ := strings.Cut(k.tag.Get("range"), "..")
	low, err := parse(from)
	if err == nil {
		high, err = parse(to)
	}
	if err != nil {
		panic(fmt.Sprintf("config: the range of %s: %v", k.Name, err))
	}
	return low, high
}
