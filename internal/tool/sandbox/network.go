package sandbox

import (
	"os"

	"chela/internal/safety/egress"
)

// ProxyAddress is where a command with a network finds its proxy: on the loopback
// interface of its own network namespace.
const ProxyAddress = "127.0.0.1:3128"

// BundlePath is the file with the certificates that a command trusts, if the
// proxy reads its encrypted requests.
const BundlePath = "/run/chela/certificates.pem"

// NetworkOf returns the environment of a command with a network, and the
// certificate of the authority that must be in the file [BundlePath] besides those
// of the system; empty for none. Without a network it returns nothing.
func NetworkOf(r *egress.Run) (env []string, authority string, err error) {
	switch {
	case r == nil:
		return nil, "", nil
	case !r.Reads():
		return r.Environment(ProxyAddress, ""), "", nil
	}
	pem, err := r.Authority()
	if err != nil {
		return nil, "", err
	}
	return r.Environment(ProxyAddress, BundlePath), string(pem), nil
}

// systemBundles are the files in which systems keep the certificates that their
// programs trust, as Go's crypto/x509 knows them.
var systemBundles = []string{
	"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem", "/etc/pki/tls/cacert.pem",
	"/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", "/etc/ssl/cert.pem",
}

// Bundle returns the certificates that a command trusts, as PEM: those of the
// system and an authority.
func Bundle(authority string) []byte {
	var system []byte
	for _, path := range systemBundles {
		var err error
		if system, err = os.ReadFile(path); err == nil {
			break // a system has one of them
		}
	}
	return append(append(system, '\n'), authority...)
}
