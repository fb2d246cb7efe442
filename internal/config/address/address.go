// Package address tells what is an address of a host, a server or a network.
package address

import (
	"cmp"
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"strconv"
	"strings"
)

// IsURL reports whether s is the address of an HTTP server, without
// credentials, query or fragment.
func IsURL(s string) bool {
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != "" &&
		u.User == nil && u.RawQuery == "" && u.Fragment == ""
}

// OfOllama returns the URL that OLLAMA_HOST stands for. It may leave out
// the scheme, the host and the port, and where it tells a server to listen on
// every address of the machine, this one is meant. What cannot be read stays as
// it is.
func OfOllama(s string) string {
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
	if s == "" || ports[scheme] == "" || !IsHost(name) {
		return s
	}
	return strings.TrimSuffix(scheme+"://"+net.JoinHostPort(name, cmp.Or(port, ports[scheme]))+"/"+path, "/")
}

// IsHostOrPrefix reports whether s is a host name, an IP address or a CIDR
// prefix.
func IsHostOrPrefix(s string) bool {
	_, err := netip.ParsePrefix(s)
	return err == nil || IsHost(s)
}

// IsHost reports whether s is a host name or an IP address.
func IsHost(s string) bool {
	_, err := netip.ParseAddr(s)
	return err == nil || hostName.MatchString(s) && len(s) <= 253
}

// IsHostPort reports whether s is a host and the number of a port. Without a host
// it would be every address, which is to be said in so many words.
func IsHostPort(s string) bool {
	name, port, err := net.SplitHostPort(s)
	if err != nil || !IsHost(name) {
		return false
	}
	_, err = strconv.ParseUint(port, 10, 16)
	return err == nil
}

// IsOrigin reports whether s is an origin in the one form that browsers send:
// in lower case, without the port that goes without saying. Another form would
// never match.
func IsOrigin(s string) bool {
	u, err := url.Parse(s)
	if err != nil || !IsHost(u.Hostname()) || strings.HasSuffix(s, ":") || s != strings.ToLower(u.Scheme+"://"+u.Host) {
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

var hostName = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)*$`)
