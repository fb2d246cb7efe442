package web_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"chela/internal/tool/web"
)

// TestPreview: all of a request is shown, but for values that are secret by name.
func TestPreview(t *testing.T) {
	t.Parallel()
	f := web.HTTP(open)
	for name, tt := range map[string]struct {
		args args
		want string
		risk string
	}{
		"headers": {args{"url": "https://a/", "headers": args{"Authorization": "Bearer k", "Cookie": "c=1", "X-Api-Key": "key", "X-Session-Token": "tok", "X-Note": "a\u202eb"}}, "GET https://a/\nAuthorization: [secret, 8 bytes]\nCookie: [secret, 3 bytes]\nX-Api-Key: [secret, 3 bytes]\nX-Note: a\\u202eb\nX-Session-Token: [secret, 3 bytes]", ""},
		"body":    {args{"method": "POST", "url": "https://a/", "body": "one\nX-Api-Key: two\x1b"}, "POST https://a/\nbody, 19 bytes:\n| one\n| X-Api-Key: two\\x1b", ""},
		"fields":  {args{"method": "POST", "url": "https://a/", "body": `{"user": "me", "password" : "p\"w", "deep": [{"api_key": 17}]}`}, "POST https://a/\nbody, 62 bytes:\n| {\"user\": \"me\", \"password\" : [secret, 4 bytes], \"deep\": [{\"api_key\": [secret, 2 bytes]}]}", ""},
		"lists":   {args{"method": "POST", "url": "https://a/", "body": `{"tokens": ["ab", {"x": 1}], "secret":{"a":"b"}, "n": [1, {"key": "k"}], "password": null}`}, "POST https://a/\nbody, 90 bytes:\n| {\"tokens\": [secret, 16 bytes], \"secret\":[secret, 9 bytes], \"n\": [1, {\"key\": \"k\"}], \"password\": null}", ""},
		"keys":    {args{"url": "https://a/", "headers": args{"X-My-Key": "abc", "X-Auth": "de", "Key-Note": "f", "X-Monkey": "g"}}, "GET https://a/\nKey-Note: [secret, 1 bytes]\nX-Auth: [secret, 2 bytes]\nX-Monkey: g\nX-My-Key: [secret, 3 bytes]", ""},
		"form":    {args{"method": "POST", "url": "https://a/?a=1&access_token=abc", "headers": args{"content-type": "application/x-www-form-urlencoded"}, "body": "a=b&pass%77ord=x"}, "POST https://a/?a=1&access_token=[secret, 3 bytes]\ncontent-type: application/x-www-form-urlencoded\nbody, 16 bytes:\n| a=b&pass%77ord=[secret, 1 bytes]", ""},
		"host":    {args{"url": "https://bücher.example/"}, "GET https://bücher.example/\nwhich is https://xn--bcher-kva.example/\nhost: xn--bcher-kva.example, which is bücher.example", ""},
		"mixed":   {args{"url": "https://exаmple.com/"}, "GET https://exаmple.com/\nwhich is https://xn--exmple-4nf.com/\nhost: xn--exmple-4nf.com, which is exаmple.com", "the host xn--exmple-4nf.com mixes letters of Cyrillic and Latin, as look-alike names do"},
		"place":   {args{"url": "https://a/", "save_to": "x", "timeout_secs": 7}, "GET https://a/\n[for at most 7 seconds]\nthe answer goes to x", ""},
	} {
		raw, err := json.Marshal(tt.args)
		if err != nil {
			t.Fatal(err)
		}
		j := f.Judge(raw)
		if diff := cmp.Diff(tt.want, j.Preview); diff != "" || j.Risk != tt.risk {
			t.Errorf("%s: risk %q (-want +got)\n%s", name, j.Risk, diff)
		}
	}
}
