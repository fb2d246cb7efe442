// Package schema describes the JSON of Go types, and checks JSON against that
// description. The HTTP API documents and enforces its limits from the same
// struct tags, so that the two cannot differ.
//
//	Go type + tags ──Of──▶ Schema ──▶ OpenAPI document
//	                          └──Check──▶ a request that does not fit is refused
//
// A field is required unless its json tag has omitempty or omitzero. Fields that
// are not described are refused. The tag check narrows a field, with words
// separated by spaces:
//
//	min=N max=N    the characters of a string, the items of a list, the value of a number
//	step=N         the value is a multiple of N
//	is=NAME        the string matches a pattern of [Patterns]
//	words=a|b|     the string is one of these; a trailing bar allows the empty one
//	format=NAME    a format of JSON Schema, which decoding enforces
//	keys=a|b       the names that an object may have
//	each           the words that follow are about the items of a list
//	id=PREFIX      the string is an id with a prefix
//	object         the value is a JSON object
//	without=a|b    the field excludes the fields a and b
//	else=a         without the field, the field a is required
//	with=a         the field and the field a are both present, or both absent
//
// A struct whose fields depend on the value of one field names that field in
// the tag of a blank field, `check:"switch=kind"`. Its other fields then say
// for which values they exist, for=a|b, and for which they are required,
// need=a. An omitted switch has the empty value. A field of an interface type
// names its switch in its own tag; [Rules] list the types that it may hold, and
// [Schema.Check] does not take such an object.
package schema
