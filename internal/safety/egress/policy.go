package egress

import (
	"net"
	"slices"
	"strings"

	"chela"
	"chela/internal/safety/guard"
)

// A Mode says which hosts commands may reach.
type Mode string

// The modes.
const (
	Off    Mode = "off"    // none
	Listed Mode = "listed" // those that the owner's rules cover
	Ask    Mode = "ask"    // the same, and each other one after a question
	Allow  Mode = "allow"  // each that a command names
)

// A Policy decides which hosts a command may reach. The zero value allows none.
type Policy struct {
	Mode    Mode
	Rules   []Rule              // of the owner
	Mirrors map[string][]string // hosts that the owner's package managers use in place of those of a group, by its name
}

// Decide returns the rules of a command that names hosts, and those hosts that
// no rule or answer allows yet. The owner's rules for a host are its only ones. If one of them
// is asked about, and all belong to one group, the command gets the whole group, and is
// asked about all of it; of several groups it gets the mirrors of each. It fails with Invalid for other text than "host" or
// "host:port", and with Denied for a host that is not asked about either.
func (p Policy) Decide(hosts []string) (rules []Rule, asked []string, err error) {
	d := decision{policy: p}
	for _, text := range hosts {
		host, err := PlainHost(text)
		if err != nil {
			return nil, nil, err
		}
		switch {
		case d.known(host):
		case p.Mode == Listed:
			return nil, nil, chela.E(chela.Denied, host+" is not among the hosts that commands may reach").
				WithHint("only the owner can add it, to the setting sandbox.network_hosts")
		case p.Mode != Ask && p.Mode != Allow:
			return nil, nil, chela.E(chela.Denied, "commands have no network here").
				WithHint("leave out hosts; only the owner can allow it, in the setting sandbox.network")
		default:
			d.add(host)
		}
	}
	if len(d.added) > 0 {
		for _, host := range p.companions(hosts) {
			if !d.known(host) {
				d.add(host)
			}
		}
	}
	if p.Mode == Allow {
		return d.rules, nil, nil
	}
	return d.rules, d.added, nil
}

// A decision collects the rules of a command.
type decision struct {
	policy Policy
	rules  []Rule
	added  []string // hosts that no rule of the owner is about
}

// known reports whether rules of the owner are about a host, and adds them.
func (d *decision) known(host string) (known bool) {
	if d.policy.Mode == Off || d.policy.Mode == "" {
		return false
	}
	for _, r := range d.policy.Rules {
		if !slices.ContainsFunc(hostports(host), r.MatchesHost) {
			continue
		}
		known = true
		if !slices.ContainsFunc(d.rules, func(o Rule) bool { return o.String() == r.String() }) {
			d.rules = append(d.rules, r)
		}
	}
	return known
}

// add adds a host that no rule of the owner is about.
func (d *decision) add(host string) {
	if !slices.Contains(d.added, host) {
		d.rules, d.added = append(d.rules, Rule{Host: host}), append(d.added, host)
	}
}

// PlainHost returns the canonical form of "host" or "host:port", and Invalid for
// other text.
func PlainHost(text string) (string, error) {
	name, port, named := cutPort(text)
	host, err := guard.CanonicalHost(strings.Trim(name, "[]"))
	switch {
	case err != nil || named && !validPort(port):
		return "", chela.Ef(chela.Invalid, "%.100q is not a host", text).WithHint("write a name such as registry.npmjs.org, with a port if it is neither 80 nor 443")
	case named:
		return net.JoinHostPort(host, port), nil
	default:
		return host, nil
	}
}

// hostports returns the two services of a host without a port.
func hostports(host string) []string {
	if _, _, named := cutPort(host); named {
		return []string{host}
	}
	return []string{net.JoinHostPort(host, "443"), net.JoinHostPort(host, "80")}
}
