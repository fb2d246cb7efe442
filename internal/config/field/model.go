package field

import (
	"strings"

	"chela"
)

// Model is a field for a model as provider/model.
func Model(at *string) Field {
	return Text(at, `provider/model, such as "offline/rules"`, isModel)
}

// Models is a field for a list of models.
func Models(at *[]string) Field {
	return List(at, `a list of models as provider/model, such as "offline/rules"`, isModel)
}

func isModel(s string) bool {
	provider, name, ok := strings.Cut(s, "/")
	return ok && chela.ValidName(provider) && OneLine(name)
}
