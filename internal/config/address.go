package config

// This part of the package validates addresses of hosts, servers and networks.

import (
	"cmp"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"chela/internal/platform/lazyregexp"
	"chela/internal/safety/egress"
)

// isURL reports whether s is the address of an HTTP server, without
// credentials, query or fragment.
func isURL(s string) bool {
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != "" &&
		u.User == nil && u.RawQuery == "" && u.Fragment == ""
}

// ollamaAddress returns the URL that OLLAMA_HOST denotes. It may omit the
// scheme, the host and the port; the wildcard address, which tells a server to
// listen on all interfaces, becomes the loopback address. A malformed value is
// returned unchanged.
func ollamaAddress(s string) string {
	scheme, rest, ok := strings.Cut(s, "://")
	ports := map[string]string{"http": "80", "https": "443"}
	if !ok {
		scheme, rest, ports = "http", s, map[string]string{"http": "11434"}
	}
	rest, path, _ := strings.Cut(rest, "/")
	name, port, err := net.SplitHostPort(rest)
	if err != nil {
		name, port = strings.Trim(rest, "[]"), ports[scheme]
	}
	switch name {
	case "", "0.0.0.0", "::":
		name = "127.0.0.1"
	}
	if s == "" || ports[scheme] == "" || !isHost(name) {
		return s
	}
	return strings.TrimSuffix(scheme+"://"+net.JoinHostPort(name, cmp.Or(port, ports[scheme]))+"/"+path, "/")
}

// isHostOrPrefix reports whether s is a host name, an IP address or a CIDR
// prefix.
func isHostOrPrefix(s string) bool {
	_, err := netip.ParsePrefix(s)
	return err == nil || isHost(s)
}

// isNetworkRule reports whether s is a rule of the egress proxy.
func isNetworkRule(s string) bool {
	_, err := egress.ParseRule(s)
	return err == nil
}

// isHost reports whether s is a host name or an IP address.
func isHost(s string) bool {
	_, err := netip.ParseAddr(s)
	return err == nil || hostName().MatchString(s) && len(s) <= 253
}

// isHostPort reports whether s is a host and a port number. The host is required,
// because an empty one would mean every address, which must be written
// explicitly.
func isHostPort(s string) bool {
	name, port, err := net.SplitHostPort(s)
	if err != nil || !isHost(name) {
		return false
	}
	_, err = strconv.ParseUint(port, 10, 16)
	return err == nil
}

// isOrigin reports whether s is an origin in the form that browsers send: in
// lower case, without the default port. Another form would never match.
func isOrigin(s string) bool {
	u, err := url.Parse(s)
	if err != nil || !isHost(u.Hostname()) || strings.HasSuffix(s, ":") || s != strings.ToLower(u.Scheme+"://"+u.Host) {
		return false
	}
	switch u.Scheme {
	case "http":
		return u.Port() != "80"
	case "https":
		return u.Port() != "443"
	default:
		return false
	}
}

var hostName = lazyregexp.New(`^[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)*$`)
