package wire

import "encoding/json"

// AppendMembers appends the members of object, a value whose JSON form is an
// object, each preceded by a comma. The caller ensures that object encodes: raw
// JSON in it has been checked.
func AppendMembers(b []byte, object any) []byte {
	raw, err := json.Marshal(object)
	if err != nil || len(raw) <= len("{}") {
		return b
	}
	b = append(b, ',')
	return append(b, raw[1:len(raw)-1]...)
}
