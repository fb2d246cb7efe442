package edge

import (
	"context"
	"crypto/subtle"
	"net/http"
	"slices"
	"strings"

	"chela"
	"chela/internal/api"
)

// socketAccount is the account of messages from the socket.
const socketAccount = "socket"

// tokens recognizes tokens. An unknown or revoked one is Denied.
type tokens interface {
	Authenticate(ctx context.Context, secret string) (chela.Token, error)
	LoggedIn(ctx context.Context, cookie string) (chela.Token, api.LoginState, error)
}

// unauthorized is the error for a request without a valid token.
func (v *Visit) unauthorized(challenge, msg, hint string) error {
	v.Header().Set("WWW-Authenticate", challenge)
	return Unauthorized(msg, hint)
}

// authenticate identifies the caller by token or cookie. A token in the URL is
// not accepted: URLs are logged.
func (s *Server) authenticate(v *Visit) error {
	if sent := v.Request.Header["Authorization"]; len(sent) > 0 {
		scheme, secret, _ := strings.Cut(sent[0], " ")
		if len(sent) > 1 || !strings.EqualFold(scheme, "Bearer") || secret == "" {
			return v.unauthorized(`Bearer realm="chela", error="invalid_request"`,
				"the Authorization header holds no bearer token", "send Authorization: Bearer TOKEN")
		}
		v.By.Secret = strings.TrimSpace(secret)
	} else if cookie, err := v.Request.Cookie(api.CookieName); err == nil {
		v.By.Cookie = cookie.Value
	} else {
		return v.unauthorized(`Bearer realm="chela"`,
			"a token is needed", "send Authorization: Bearer TOKEN; chela tokens create makes one")
	}
	by, err := s.recognize(v.Request.Context(), v.By)
	if chela.KindOf(err) == chela.Denied || chela.KindOf(err) == chela.NotFound {
		v.By = Asker{}
		return v.unauthorized(`Bearer realm="chela", error="invalid_token"`,
			"the token is not known, or was revoked", "chela tokens list shows those that work")
	}
	if err != nil {
		return err
	}
	v.By = by
	if v.By.Cookie != "" {
		return s.fromOwnPage(v)
	}
	return nil
}

// recognize resolves a secret or a cookie, or returns Denied.
func (s *Server) recognize(ctx context.Context, by Asker) (Asker, error) {
	var err error
	if by.Cookie != "" {
		by.Token, by.Login, err = s.cfg.Tokens.LoggedIn(ctx, by.Cookie)
	} else {
		by.Token, err = s.cfg.Tokens.Authenticate(ctx, by.Secret)
	}
	return by, err
}

// fromOwnPage refuses requests by cookie that another page may have caused:
// browsers send cookies with requests of any page.
func (s *Server) fromOwnPage(v *Visit) error {
	h := v.Request.Header
	own := h.Get("Origin") != "" && ownOrigin(v.Request) || h.Get("Origin") == "" && h.Get("Sec-Fetch-Site") == "same-origin"
	switch {
	case h.Get("Upgrade") != "":
		if h.Get("Origin") == "" || !own {
			return foreign()
		}
		return nil
	case v.Request.Method == http.MethodGet || v.Request.Method == http.MethodHead:
		if site := h.Get("Sec-Fetch-Site"); !own && site != "" && site != "none" {
			return foreign()
		}
		return nil
	case !own:
		return foreign()
	case subtle.ConstantTimeCompare([]byte(h.Get(api.CSRFHeader)), []byte(v.By.Login.CSRF)) != 1 || v.By.Login.CSRF == "":
		return chela.E(chela.Denied, "the request does not bring the page's CSRF token").
			WithHint("send what the login answered in " + api.CSRFHeader)
	default:
		return nil
	}
}

func foreign() error {
	return chela.E(chela.Denied, "the request comes from a page of another site").WithHint("add its origin to gateway.origins in config.toml, if you trust it")
}

// fromPage refuses requests of pages of other origins, and lets pages of the
// listed origins read the responses. It reports whether it answered a CORS
// preflight.
func (s *Server) fromPage(v *Visit) (bool, error) {
	if len(s.cfg.Origins) > 0 {
		v.Header().Set("Vary", "Origin")
	}
	origin := v.Request.Header["Origin"]
	if len(origin) == 0 || len(origin) == 1 && ownOrigin(v.Request) {
		return false, nil
	}
	if len(origin) > 1 || !slices.Contains(s.cfg.Origins, origin[0]) {
		return false, foreign()
	}
	h := v.Header()
	h.Set("Access-Control-Allow-Origin", origin[0])
	h.Set("Access-Control-Expose-Headers", api.RequestIDHeader+", Retry-After")
	h.Set("Cross-Origin-Resource-Policy", "cross-origin")
	if v.Request.Method != http.MethodOptions || v.Request.Header.Get("Access-Control-Request-Method") == "" {
		return false, nil
	}
	h.Set("Access-Control-Allow-Methods", strings.Join(s.methods, ", "))
	h.Set("Access-Control-Allow-Headers", "Authorization, *")
	h.Set("Access-Control-Max-Age", "600")
	v.WriteHeader(http.StatusNoContent)
	return true, nil
}

// ownOrigin reports whether a request comes from a page of this daemon: the
// origin of its Host header, which was checked before. TLS termination before
// the daemon is not visible here, so both schemes are accepted.
func ownOrigin(r *http.Request) bool {
	scheme, host, ok := strings.Cut(r.Header.Get("Origin"), "://")
	return ok && strings.EqualFold(host, r.Host) && (scheme == "https" || scheme == "http" && r.TLS == nil)
}
