package main

import (
	"fmt"
	"os"
	"strings"
)

// A score sums up the results.
type score struct {
	caught, excused int
	survivors       []string
}

// readEquivalents reads lines of the form NAME # REASON. Empty lines and lines
// that begin with # are comments.
func readEquivalents(path string) (map[string]string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	excused := map[string]string{}
	for i, line := range strings.Split(string(text), "\n") {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, reason, ok := strings.Cut(line, " # ")
		if !ok || strings.TrimSpace(reason) == "" {
			return nil, fmt.Errorf("%s:%d: no reason: %s", path, i+1, line)
		}
		excused[strings.TrimSpace(name)] = strings.TrimSpace(reason)
	}
	return excused, nil
}

func countSites(packages []*pkg) (n int) {
	for _, p := range packages {
		n += len(p.sites)
	}
	return n
}

// possible reports whether a mutant of that name exists.
func possible(packages []*pkg, name string) bool {
	for _, p := range packages {
		for _, s := range p.sites {
			if s.name() == name {
				return true
			}
		}
	}
	return false
}

// add counts the results of a package and prints its survivors.
func (s *score) add(p *pkg, results map[int]result, excused map[string]string) {
	here := 0
	for _, m := range p.drawn {
		switch {
		case results[m.id] == caught:
			s.caught++
			here++
		case excused[m.name()] != "":
			s.excused++
		default:
			line := fmt.Sprintf("%s:%d %s: %s\n    %s", m.file, m.line, m.function, results[m.id], m.name())
			s.survivors = append(s.survivors, line)
			fmt.Println(line)
		}
	}
	fmt.Printf("%s: %d of %d caught\n", p.path, here, len(p.drawn))
}

// report prints the sum and reports whether less than share was caught.
func (s *score) report(share float64) (failed bool) {
	counted := s.caught + len(s.survivors)
	got := 1.0
	if counted > 0 {
		got = float64(s.caught) / float64(counted)
	}
	fmt.Printf("mutants: %d caught, %d survived, %d equivalent: %.1f %% caught, at least %.1f %% wanted\n",
		s.caught, len(s.survivors), s.excused, 100*got, 100*share)
	return got < share
}
