package script

import (
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
)

// A pattern is a substring, or a regular expression between slashes.
type pattern struct {
	source string
	re     *regexp.Regexp // nil for a substring
}

// UnmarshalYAML reads the pattern from a scalar.
func (p *pattern) UnmarshalYAML(n *yaml.Node) error {
	if err := n.Decode(&p.source); err != nil {
		return err
	}
	if len(p.source) < 2 || !strings.HasPrefix(p.source, "/") || !strings.HasSuffix(p.source, "/") {
		return nil
	}
	re, err := regexp.Compile(p.source[1 : len(p.source)-1])
	if err != nil {
		return invalid("line %d: %v", n.Line, err)
	}
	p.re = re
	return nil
}

func (p *pattern) matches(text string) bool {
	if p.re != nil {
		return p.re.MatchString(text)
	}
	return strings.Contains(text, p.source)
}
