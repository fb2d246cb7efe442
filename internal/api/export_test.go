package api

// Wildcards returns the names that the input gives to the wildcards of the path.
func (s Spec) Wildcards() (names []string) {
	for _, f := range s.fields() {
		if f.place == placePath {
			names = append(names, f.name)
		}
	}
	return names
}
