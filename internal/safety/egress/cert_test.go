package egress_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"sync"
	"testing"
	"time"
)

// A certificate of the fake internet, and the root that signed it.
type certificate struct {
	pair tls.Certificate
	root *x509.Certificate
	pem  []byte // of the root
}

var testRoot = sync.OnceValue(func() (c struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	der  []byte
},
) {
	c.key, _ = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	t := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test root"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	c.der, _ = x509.CreateCertificate(rand.Reader, t, t, c.key.Public(), c.key)
	c.cert, _ = x509.ParseCertificate(c.der)
	return c
})

func leafFor(t testing.TB, names ...string) certificate {
	t.Helper()
	root := testRoot()
	c := certificate{root: root.cert, pem: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: root.der})}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), DNSNames: names, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.CreateCertificate(rand.Reader, template, root.cert, key.Public(), root.key)
	if err != nil {
		t.Fatal(err)
	}
	c.pair = tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
	return c
}
