// Package guard is the only way by which chela connects to machines that a
// model, a page or a message named: the tool http, images of requests to /v1,
// the egress proxy of sandboxes, and webhooks of hooks.
//
//	name ──resolve──▶ addresses ──every one public or allowed?──▶ connect to an address
//
// A [Dialer] resolves a name once, checks every address of the answer and
// connects to one of the addresses that it checked. No second look-up happens, so
// a name whose answer changes (DNS rebinding) gains nothing, and a name with one
// address that is not public is refused as a whole. An HTTP client on a Dialer
// calls it for each redirect, too.
//
// # Refused addresses
//
// Loopback, unspecified, private, link-local, shared (CGNAT), benchmarking,
// documentation, multicast, broadcast and reserved addresses, everything else of
// IANA's registries of special-purpose addresses, IPv6 outside of 2000::/3 (with
// it IPv4-compatible, unique local and NAT64 addresses), 6to4, Teredo, and the
// metadata services of clouds, by address and by name. An IPv4-mapped address is
// judged as the IPv4 address that it stands for. Addresses in other notations
// (octal, hexadecimal, short, one number) are not addresses here and are refused.
// Every refusal has the kind [chela.Denied].
//
// # Limits
//
// An address that is public by its number and leads to the own network: a public
// address of this machine or of its router, an overlay network with public
// numbers, and NAT64 with a prefix of the network's operator. Firewalls decide
// about those.
//
// # Who dials without it
//
// Connections whose address is in the owner's configuration or in the operating
// system: model providers, embeddings among them, which often are on loopback; the
// database; the container engine; the daemon of this home. A rule of the
// repository lists the packages that may.
package guard
