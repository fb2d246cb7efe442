package storetest

import (
	"encoding/json"
	"fmt"
	"reflect"
	"time"

	"chela"
)

// epoch is when the first row of a test was made. Times are kept to the
// microsecond.
var epoch = time.Date(2026, time.November, 1, 23, 59, 59, 999_999_000, time.UTC)

// at returns a time that is n microseconds after epoch.
func at(n int) time.Time { return epoch.Add(time.Duration(n) * time.Microsecond) }

// full returns a value in which every field is set, each to something else, so
// that a column that was forgotten or swapped shows. Texts hold what is easily
// lost: quotes, wildcards, line ends, several alphabets.
func full[T any]() T {
	var v T
	n := 0
	fill(reflect.ValueOf(&v).Elem(), &n)
	return v
}

func fill(v reflect.Value, n *int) {
	*n++
	switch p := v.Addr().Interface().(type) {
	case *time.Time:
		*p = at(*n * 1_000_001)
		return
	case *chela.Span: // kept to the millisecond
		*p = chela.Span(time.Duration(*n) * time.Millisecond)
		return
	case *chela.Body:
		*p = full[chela.AnswerBody]()
		return
	case *json.RawMessage:
		*p = fmt.Appendf(nil, `{"number":%d,"text":"\u0000é"}`, *n)
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(fmt.Sprintf("%d é漢🙂 'single' \"double\" %%_\\ <&>\r\n\t$1 \u202eabc", *n))
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(*n) << 20)
	case reflect.Float64:
		v.SetFloat(float64(*n) + 0.1)
	case reflect.Uint32:
		v.SetUint(uint64(*n))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), n)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			fill(v.Index(i), n)
		}
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(key, n)
		fill(value, n)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(v.Field(i), n)
			}
		}
	case reflect.Func: // no column
	default:
		panic("fill a " + v.Type().String())
	}
}
