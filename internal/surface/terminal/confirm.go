package terminal

import (
	"context"
	"errors"
	"io"
	"strings"
)

// Present reports whether a person can answer a question: input and messages are a
// terminal's.
func (p *Person) Present() bool { return IsTTY(p.Stdin) && p.ErrTerminal }

// Confirm asks the person a question until they answer yes or no. The end of the input
// is a no.
func (p *Person) Confirm(ctx context.Context, question string) (bool, error) {
	for {
		p.Prompt(question + " [y]es, [n]o: ")
		line, err := p.input().Line(ctx)
		if errors.Is(err, io.EOF) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		switch strings.ToLower(strings.TrimSpace(line)) {
		case "y", "yes":
			return true, nil
		case "n", "no":
			return false, nil
		}
		p.Note("type y or n")
	}
}
