package token_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/api"
)

// monthly is how long a page stays logged in.
const monthly = 30 * 24 * time.Hour

func TestPageLogsInWithAToken(t *testing.T) {
	onBoth(t, func(t *testing.T, h house) {
		k := h.tokens()
		made, secret := create(t, k, "page", chela.ScopeChat)
		cookie, in, err := k.Login(t.Context(), secret)
		if err != nil {
			t.Fatal(err)
		}
		want := api.LoginState{Name: "page", Scope: chela.ScopeChat, CSRF: in.CSRF, Expires: h.Now().Add(monthly)}
		if diff := cmp.Diff(want, in); diff != "" || len(in.CSRF) != 32 {
			t.Errorf("logged in (-want +got)\n%s", diff)
		}
		_, second, err := k.Login(t.Context(), secret)
		if err != nil || second.CSRF == in.CSRF {
			t.Errorf("a second login says %q too: %v", second.CSRF, err)
		}

		restarted := h.tokens()
		got, again, err := restarted.LoggedIn(t.Context(), cookie)
		if err != nil || got != made {
			t.Errorf("after a restart the cookie stands for %+v, %v", got, err)
		}
		if diff := cmp.Diff(in, again); diff != "" {
			t.Errorf("after a restart (-before +after)\n%s", diff)
		}
		_, err = k.Authenticate(t.Context(), cookie)
		wants(t, "the cookie as a token", err, chela.Denied)
		_, _, err = k.LoggedIn(t.Context(), secret)
		wants(t, "the token as a cookie", err, chela.Denied)
		_, _, err = k.Login(t.Context(), cookie)
		wants(t, "a login with a cookie", err, chela.Denied)
	})
}

func TestLoginEnds(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		end  func(t *testing.T, h house, made chela.TokenID, cookie string) error
		over bool
	}{
		"not before its time": {end: func(_ *testing.T, h house, _ chela.TokenID, _ string) error {
			h.move(monthly)
			return nil
		}},
		"with its time": {over: true, end: func(_ *testing.T, h house, _ chela.TokenID, _ string) error {
			h.move(monthly + time.Microsecond)
			return nil
		}},
		"with a logout": {over: true, end: func(t *testing.T, h house, _ chela.TokenID, cookie string) error {
			return h.tokens().Logout(t.Context(), cookie)
		}},
		"not with the logout of another": {end: func(t *testing.T, h house, _ chela.TokenID, _ string) error {
			return h.tokens().Logout(t.Context(), "somebody else's")
		}},
		"with its token": {over: true, end: func(t *testing.T, h house, made chela.TokenID, _ string) error {
			return h.tokens().Revoke(t.Context(), made)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := onSQLite(t)
			k := h.tokens()
			made, secret := create(t, k, "page", chela.ScopeRead)
			cookie, _, err := k.Login(t.Context(), secret)
			if err != nil {
				t.Fatal(err)
			}
			if err := tt.end(t, h, made.ID, cookie); err != nil {
				t.Fatal(err)
			}
			_, _, err = k.LoggedIn(t.Context(), cookie)
			if over := chela.KindOf(err) == chela.Denied; over != tt.over {
				t.Errorf("over: %v, want %v: %v", over, tt.over, err)
			}
		})
	}
}

func TestNobodyLogsInWithoutAToken(t *testing.T) {
	t.Parallel()
	h := onSQLite(t)
	k := h.tokens()
	made, secret := create(t, k, "page", chela.ScopeAdmin)
	if err := k.Revoke(t.Context(), made.ID); err != nil {
		t.Fatal(err)
	}
	for _, wrong := range []string{"", "page", string(made.ID), secret} {
		cookie, in, err := k.Login(t.Context(), wrong)
		wants(t, "login", err, chela.Denied)
		if cookie != "" || in != (api.LoginState{}) {
			t.Errorf("cookie %q, %+v", cookie, in)
		}
	}
}
