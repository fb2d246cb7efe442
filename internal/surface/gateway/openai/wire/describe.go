package wire

import (
	_ "embed"

	"chela/internal/api"
)

// schemas describes the bodies and answers of OpenAI's protocols by hand, as their
// unions and nullable fields are read here piece by piece.
//
//go:embed schemas.json
var schemas []byte

// Described returns the description of a body or an answer by its name in
// schemas.json.
func Described(name string) api.SchemaDocument {
	return api.SchemaDocument{Name: name, Schemas: schemas}
}
