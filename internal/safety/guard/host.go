package guard

import (
	"fmt"
	"net/netip"
	"strings"

	"golang.org/x/net/idna"

	"chela"
)

// names maps host names as browsers do (UTS 46): case, width and compatibility
// characters are folded, other scripts become punycode. CanonicalHost checks
// ASCII characters, because names with "_" exist.
var names = idna.New(
	idna.MapForLookup(), idna.BidiRule(), idna.CheckJoiners(true), idna.CheckHyphens(false), idna.StrictDomainName(false), idna.Transitional(false),
)

// CanonicalHost returns the form of a host that all its spellings share: an
// address as netip writes it, without brackets, an IPv4-mapped one as IPv4; or a
// name in lower case and ASCII, without a trailing dot. It fails with Invalid for
// other text, and with Denied for an address with a zone or in a notation
// that programs disagree about.
func CanonicalHost(host string) (string, error) {
	if addr, err := netip.ParseAddr(host); err == nil {
		if addr.Zone() != "" {
			return "", chela.Ef(chela.Denied, "%.100q is an address of one network interface", host).WithHint("use a public address")
		}
		return addr.Unmap().String(), nil
	}
	name, err := names.ToASCII(host)
	name = strings.TrimSuffix(name, ".")
	if err != nil || name == "" || len(name) > 253 || strings.ContainsFunc(name, notInNames) || strings.Contains("."+name+".", "..") {
		return "", chela.Ef(chela.Invalid, "%.100q is not the name of a host", host)
	}
	if last := name[strings.LastIndexByte(name, '.')+1:]; numeric(last) {
		return "", chela.E(chela.Denied, fmt.Sprintf("%.100q is an address in an odd form; write it as 192.0.2.1 or [2001:db8::1]", host))
	}
	return name, nil
}

// UnicodeHost returns a canonical host name in the letters that people read.
func UnicodeHost(host string) (string, error) { return names.ToUnicode(host) }

func notInNames(r rune) bool {
	return !('a' <= r && r <= 'z' || '0' <= r && r <= '9' || r == '-' || r == '_' || r == '.')
}

// numeric reports whether the last label of a name is a decimal, octal or
// hexadecimal number, so that programs take the name for an address.
func numeric(label string) bool {
	if hex, ok := strings.CutPrefix(label, "0x"); ok {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return strings.Trim(label, "0123456789") == ""
}
