package chela

// A Setting is one value of the configuration; that of a secret is "set" or "not set".
type Setting struct {
	Key    string `json:"key"`
	Value  string `json:"value"`
	Source string `json:"source"` // "flag --model", "env CHELA_MODEL", "file config.toml:12", "default"
}
