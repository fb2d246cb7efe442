package openai

import (
	"cmp"
	"strings"

	"chela"
	"chela/internal/api"
	"chela/internal/surface/gateway/openai/wire"
)

// prefix begins the names of all sessions of a client's token. The id of a token
// has no dot, so no name under one token begins with the prefix of another. The
// owner, who asks through the socket without a token, has none.
func prefix(c api.Caller) string {
	if c.Origin.Account == "" {
		return ""
	}
	return c.Origin.Account + "."
}

// reaches reports whether a client may use a session: a session of its own
// token, or any session for an admin.
func (v *agentRequest) reaches(session chela.SessionKey) bool {
	if v.caller.Scope.Allows(chela.ScopeAdmin) {
		return true
	}
	key, err := chela.ParseSessionKey(session)
	own := prefix(v.caller)
	return err == nil && own != "" && key.Kind == chela.KeyDirect && key.Channel == api.Channel && strings.HasPrefix(key.ID, own)
}

// mayUse refuses a session out of the client's reach, and a session other than
// the one the request names. An empty session is not known yet.
func (v *agentRequest) mayUse(session chela.SessionKey) error {
	if session == "" {
		return nil
	}
	if !v.reaches(session) {
		return wire.Refuse(v.param, "", chela.E(chela.Denied, "this token may not name the session "+string(session)).
			WithHint("use a word, which names a session of this token, or a token of the scope admin"))
	}
	if v.session == "" {
		return nil
	}
	if named, err := v.sessionKey(); err != nil || named != session {
		return wire.Wrong(v.param, "what the request goes on from belongs to another session")
	}
	return nil
}

// sessionKey returns the session that a request names: by its key, or by a word,
// which names a session of the client's token.
func (v *agentRequest) sessionKey() (chela.SessionKey, error) {
	key := chela.SessionKey(v.session)
	if _, err := chela.ParseSessionKey(key); err == nil {
		return key, nil
	}
	return v.wordKey(v.session)
}

// freshSession returns a session for this request alone: the same one for every
// retry.
func (a *API) freshSession(v *agentRequest) (chela.SessionKey, error) {
	return v.wordKey(cmp.Or(v.caller.Key, suffix(string(a.cfg.IDs.Inbox()))))
}

func (v *agentRequest) wordKey(word string) (chela.SessionKey, error) {
	key := chela.Key{
		Kind: chela.KeyDirect, Agent: cmp.Or(v.agent, chela.MainAgent), Channel: api.Channel, ID: prefix(v.caller) + word,
	}.Session()
	if _, err := chela.ParseSessionKey(key); err != nil {
		return "", wire.Wrong(v.param, "cannot name a session; use a short word, or a session key")
	}
	return key, nil
}
