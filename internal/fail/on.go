//go:build failpoint

package fail

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Enabled reports whether this is a test build with failpoints.
const Enabled = true

// plan is what the environment asks for, read once.
var plan = sync.OnceValue(func() *points { return parse(os.Getenv) })

// points holds the rules and how often each place was hit.
type points struct {
	rules   []rule
	mutants map[string]bool
	log     string

	mu   sync.Mutex
	hits map[string]int // guarded by mu
}

type rule struct {
	name   string
	nth    int // 0: every hit
	action string
}

func parse(getenv func(string) string) *points {
	p := &points{hits: map[string]int{}, mutants: map[string]bool{}, log: getenv("CHELA_FAILPOINTS_LOG")}
	for _, m := range strings.Split(getenv("CHELA_FAILPOINTS_MUTANTS"), ",") {
		p.mutants[m] = true
	}
	for _, text := range strings.Split(getenv("CHELA_FAILPOINTS"), ";") {
		place, action, ok := strings.Cut(text, "=")
		if !ok {
			continue
		}
		name, nth, _ := strings.Cut(place, "@")
		n, _ := strconv.Atoi(nth)
		p.rules = append(p.rules, rule{name: name, nth: n, action: action})
	}
	return p
}

// Point marks a place. It returns nil, or the error that a test asked for.
func Point(name string) error {
	p := plan()
	p.mu.Lock()
	p.hits[name]++
	n := p.hits[name]
	p.mu.Unlock()
	if p.log != "" {
		record(p.log, name)
	}
	for _, r := range p.rules {
		if r.name == name && (r.nth == 0 || r.nth == n) {
			if err := act(r.action, name); err != nil {
				return err
			}
		}
	}
	return nil
}

func record(path, name string) {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		panic(fmt.Sprintf("open failpoint log: %v", err))
	}
	defer f.Close()
	fmt.Fprintln(f, name)
}

func act(action, name string) error {
	switch {
	case action == "kill":
		syscall.Kill(syscall.Getpid(), syscall.SIGKILL)
		select {} // the signal arrives before anything else happens
	case action == "error":
		return errors.New("failpoint " + name)
	case strings.HasPrefix(action, "sleep("):
		d, err := time.ParseDuration(strings.TrimSuffix(strings.TrimPrefix(action, "sleep("), ")"))
		if err != nil {
			panic(fmt.Sprintf("failpoint %s: %v", name, err))
		}
		time.Sleep(d)
	}
	return nil
}

// Mutant reports whether a test planted the named defect.
func Mutant(name string) bool { return plan().mutants[name] }
