package gateway

import (
	"net/http"
	"strings"
	"time"

	"chela"
	"chela/internal/api"
	"chela/internal/surface/gateway/edge"
)

// login logs a page in: it shows a token and gets a cookie.
func (g *Gateway) login(v *edge.Visit) error {
	if err := v.CountIn(g.logins, edge.Remote(v.Request), "there were too many logins from your address"); err != nil {
		return err
	}
	var asked api.Login
	if err := v.Decode(&asked); err != nil {
		return err
	}
	value, in, err := g.cfg.Home.Logins.Login(v.Request.Context(), asked.Token)
	if chela.KindOf(err) == chela.Denied {
		return edge.Unauthorized("the token is not known, or was revoked", "chela tokens create makes one")
	}
	if err != nil {
		return err
	}
	http.SetCookie(v, cookie(v.Request, value, in.Expires))
	return v.OK(in)
}

// cookie returns the page's cookie. Behind a TLS terminator, the page's origin
// shows that TLS is in use.
func cookie(r *http.Request, value string, expires time.Time) *http.Cookie {
	return &http.Cookie{
		Name: api.CookieName, Value: value, Path: "/", Expires: expires,
		HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: r.TLS != nil || strings.HasPrefix(r.Header.Get("Origin"), "https://"),
	}
}

func (g *Gateway) loggedIn(v *edge.Visit) error {
	in := v.By.Login
	in.Name, in.Scope = v.By.Token.Name, v.By.Token.Scope
	return v.OK(in)
}

func (g *Gateway) logout(v *edge.Visit) error {
	if v.By.Cookie == "" {
		return chela.E(chela.Conflict, "the request came with a token, not with the cookie of a login").WithHint("revoke the token instead")
	}
	if err := g.cfg.Home.Logins.Logout(v.Request.Context(), v.By.Cookie); err != nil {
		return err
	}
	g.Revoke(func(by edge.Asker) bool { return by.Cookie == v.By.Cookie })
	gone := cookie(v.Request, "", time.Time{})
	gone.MaxAge = -1
	http.SetCookie(v, gone)
	return v.Nothing()
}
