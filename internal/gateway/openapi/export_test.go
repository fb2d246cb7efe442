package openapi

import "reflect"

// Enums returns the values of the types that have some.
func Enums() map[reflect.Type][]string { return enums }
