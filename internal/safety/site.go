package safety

import "golang.org/x/net/publicsuffix"

// SiteOf returns the registered domain of a host, such as example.co.uk for
// www.example.co.uk, or the host itself if it has none.
func SiteOf(host string) string {
	site, err := publicsuffix.EffectiveTLDPlusOne(host)
	if err != nil {
		return host
	}
	return site
}
