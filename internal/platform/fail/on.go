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

	"chela"
)

// Enabled reports whether this is a test build with failpoints.
const Enabled = true

// plan is the configuration from the environment, read once.
var plan = sync.OnceValue(func() *points { return parse(os.Getenv) })

// points holds the rules and the number of hits of each failpoint.
type points struct {
	rules   []rule
	mutants map[string]bool
	log     *os.File // nil: hits are not logged

	mu   sync.Mutex
	hits map[string]int // guarded by mu
}

type rule struct {
	name   string
	nth    int // 0: every hit
	action string
	pause  time.Duration // of the action sleep
}

func parse(getenv func(string) string) *points {
	p := &points{hits: map[string]int{}, mutants: map[string]bool{}, log: openLog(getenv("CHELA_FAILPOINTS_LOG"))}
	for _, m := range strings.Split(getenv("CHELA_FAILPOINTS_MUTANTS"), ",") {
		p.mutants[m] = true
	}
	for text := range strings.SplitSeq(getenv("CHELA_FAILPOINTS"), ";") {
		if text == "" {
			continue
		}
		r, err := parseRule(text)
		if err != nil {
			panic(fmt.Sprintf("failpoint %q: %v", text, err)) // otherwise a test would prove nothing
		}
		p.rules = append(p.rules, r)
	}
	return p
}

func parseRule(text string) (r rule, err error) {
	place, action, _ := strings.Cut(text, "=")
	name, nth, counted := strings.Cut(place, "@")
	r = rule{name: name, action: action}
	if counted {
		if r.nth, err = strconv.Atoi(nth); err != nil || r.nth < 1 {
			return r, fmt.Errorf("%q is not the number of a hit", nth)
		}
	}
	if pause, ok := strings.CutPrefix(action, "sleep("); ok {
		r.action = "sleep"
		r.pause, err = time.ParseDuration(strings.TrimSuffix(pause, ")"))
		return r, err
	}
	switch action {
	case "kill", "error", "busy", "full":
		return r, nil
	}
	return r, fmt.Errorf("%q is not an action", action)
}

// Point marks a failpoint. It returns nil, or the error that a test asked for.
func Point(name string) error {
	p := plan()
	p.mu.Lock()
	p.hits[name]++
	n := p.hits[name]
	if p.log != nil {
		fmt.Fprintln(p.log, name)
	}
	p.mu.Unlock()
	for _, r := range p.rules {
		if r.name == name && (r.nth == 0 || r.nth == n) {
			if err := act(r); err != nil {
				return err
			}
		}
	}
	return nil
}

// openLog opens the file for hits, which stays open until the process ends.
func openLog(path string) *os.File {
	if path == "" {
		return nil
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		panic(fmt.Sprintf("failpoint log: %v", err)) // otherwise a test would prove nothing
	}
	return f
}

func act(r rule) error {
	switch r.action {
	case "kill":
		_ = syscall.Kill(syscall.Getpid(), syscall.SIGKILL) // a process may always kill itself
		select {}                                           // the signal arrives before anything else happens
	case "error":
		return errors.New("failpoint " + r.name)
	case "busy":
		return chela.E(chela.Unavailable, "failpoint "+r.name+" is busy")
	case "full":
		return chela.E(chela.Unavailable, "failpoint "+r.name+" is full").Because(ErrFull)
	case "sleep":
		time.Sleep(r.pause)
	}
	return nil
}

// Mutant reports whether a test planted the named defect.
func Mutant(name string) bool { return plan().mutants[name] }
