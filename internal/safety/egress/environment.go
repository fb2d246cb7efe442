package egress

// Environment returns the variables by which programs use a proxy and trust the
// certificates in a bundle; an empty bundle leaves them with those of the system.
// Servers of the sandbox itself, on its own loopback interface, are reached
// without the proxy.
//
// There is one name for each family: most of Unix (lower and upper case), Go and
// OpenSSL, curl, git, Python's requests and pip, Node and npm, cargo, the AWS
// tools, Deno.
func Environment(proxyURL, bundle string) []string {
	var env []string
	for _, name := range []string{
		"http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "all_proxy", "ALL_PROXY",
		"npm_config_proxy", "npm_config_https_proxy", "CARGO_HTTP_PROXY",
	} {
		env = append(env, name+"="+proxyURL)
	}
	if bundle != "" {
		for _, name := range []string{
			"SSL_CERT_FILE", "CURL_CA_BUNDLE", "GIT_SSL_CAINFO", "REQUESTS_CA_BUNDLE", "PIP_CERT", "NODE_EXTRA_CA_CERTS", "npm_config_cafile",
			"CARGO_HTTP_CAINFO", "AWS_CA_BUNDLE", "DENO_CERT",
		} {
			env = append(env, name+"="+bundle)
		}
	}
	const own = "localhost,127.0.0.1,::1"
	return append(env, "no_proxy="+own, "NO_PROXY="+own, "npm_config_noproxy="+own, "NODE_USE_ENV_PROXY=1")
}
