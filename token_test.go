package chela_test

import (
	"testing"
	"time"

	"chela"
)

func TestRevoked(t *testing.T) {
	t.Parallel()
	if (chela.Token{CreatedAt: time.Unix(1, 0)}).Revoked() {
		t.Error("a new token is called revoked")
	}
	if !(chela.Token{RevokedAt: time.Unix(1, 0)}).Revoked() {
		t.Error("a token that was revoked is called usable")
	}
}
