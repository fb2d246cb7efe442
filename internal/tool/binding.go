package tool

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strings"
)

// Digest returns a SHA-256 of texts, in hex, shortened to 128 bits: a condition of a call
// (chela.Tool.Conditions).
func Digest(texts ...string) string {
	h := sha256.New()
	for _, text := range texts {
		sum := sha256.Sum256([]byte(text)) // so that texts cannot run into each other
		h.Write(sum[:])
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// Binding returns what an approval covers: the hash of a call's arguments, see [Hash],
// followed by the conditions of the call as " name=digest".
func Binding(hash string, conditions map[string]string) string {
	for _, name := range slices.Sorted(maps.Keys(conditions)) {
		hash += " " + name + "=" + conditions[name]
	}
	return hash
}

// SplitBinding returns the hash of the arguments and the conditions in a binding.
func SplitBinding(binding string) (hash string, conditions map[string]string) {
	hash, rest, _ := strings.Cut(binding, " ")
	conditions = map[string]string{}
	for _, part := range strings.Fields(rest) {
		name, digest, _ := strings.Cut(part, "=")
		conditions[name] = digest
	}
	return hash, conditions
}

// Changed returns the names of the parts in which two bindings differ, sorted.
func Changed(asked, now string) (names []string) {
	hash, before := SplitBinding(asked)
	other, after := SplitBinding(now)
	if hash != other {
		names = append(names, "arguments")
	}
	for name, digest := range after {
		if before[name] != digest {
			names = append(names, name)
		}
	}
	for name := range before {
		if _, ok := after[name]; !ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
