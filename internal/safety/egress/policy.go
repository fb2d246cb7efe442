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
	None   Mode = "none"   // none
	Listed Mode = "listed" // those that the owner's rules cover
	Ask    Mode = "ask"    // the same, and each other one after a question
)

// A Policy decides which hosts a command may reach. The zero value allows none.
type Policy struct {
	Mode  Mode
	Rules []Rule // of the owner
}

// Decide returns the rules of a command that names hosts, and those hosts that
// nobody has allowed yet. The owner's rules for a host are its only ones. It fails
// with Invalid for other text than "host" or "host:port", and with Denied for a host
// that is not asked about either.
func (p Policy) Decide(hosts []string) (rules []Rule, asked []string, err error) {
	for _, text := range hosts {
		host, err := PlainHost(text)
		if err != nil {
			return nil, nil, err
		}
		known := false
		for _, r := range p.Rules {
			if (p.Mode == Listed || p.Mode == Ask) && slices.ContainsFunc(hostports(host), r.MatchesHost) {
				known = true
				if !slices.ContainsFunc(rules, func(o Rule) bool { return o.String() == r.String() }) {
					rules = append(rules, r)
				}
			}
		}
		switch {
		case known:
		case p.Mode == Listed:
			return nil, nil, chela.E(chela.Denied, host+" is not among the hosts that commands may reach").
				WithHint("only the owner can add it, to the setting sandbox.network_hosts")
		case p.Mode != Ask:
			return nil, nil, chela.E(chela.Denied, "commands have no network here").
				WithHint("leave out hosts; only the owner can allow it, in the setting sandbox.network")
		case !slices.Contains(asked, host):
			rules, asked = append(rules, Rule{Host: host}), append(asked, host)
		}
	}
	return rules, asked, nil
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
