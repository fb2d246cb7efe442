package wire

import (
	"net/http"
	"regexp"
	"strings"

	"chela"
)

// amazonKinds maps the error names of AWS services to kinds; see
// https://docs.aws.amazon.com/bedrock/latest/userguide/troubleshooting-api-error-codes.html.
var amazonKinds = map[string]chela.Kind{
	"AccessDeniedException":               chela.Denied,
	"ExpiredTokenException":               chela.Denied,
	"IncompleteSignatureException":        chela.Denied,
	"InvalidSignatureException":           chela.Denied,
	"MissingAuthenticationToken":          chela.Denied,
	"UnrecognizedClientException":         chela.Denied,
	"ResourceNotFoundException":           chela.NotFound,
	"ServiceQuotaExceededException":       chela.Exhausted,
	"ThrottlingException":                 chela.Exhausted,
	"InternalServerException":             chela.Unavailable,
	"ModelErrorException":                 chela.Unavailable,
	"ModelNotReadyException":              chela.Unavailable,
	"ModelStreamErrorException":           chela.Unavailable,
	"ModelTimeoutException":               chela.Unavailable,
	"ServiceUnavailableException":         chela.Unavailable,
	"ValidationException":                 chela.Invalid,
	"UnsupportedMediaTypeException":       chela.Unsupported,
	"UnsupportedOperationException":       chela.Unsupported,
	"UnknownOperationException":           chela.Unsupported,
	"OptInRequired":                       chela.Denied,
	"RequestExpired":                      chela.Denied,
	"InvalidClientTokenId":                chela.Denied,
	"MissingAuthenticationTokenException": chela.Denied,
}

// noModel matches Bedrock's message for an unknown model, which it reports as
// ValidationException.
var noModel = regexp.MustCompile(`(?i)provided model identifier is invalid`)

// amazonLabel returns the error name of an AWS response, as in
// "ThrottlingException:http://internal.amazon.com/coral/…"; empty if absent.
func amazonLabel(h http.Header) string {
	label, _, _ := strings.Cut(h.Get("X-Amzn-Errortype"), ":")
	return label
}

// amazonKind returns the kind of an error with an AWS error name.
func amazonKind(p problem) (chela.Kind, bool) {
	for _, label := range p.labels {
		if kind, ok := amazonKinds[label]; ok {
			if kind == chela.Invalid && noModel.MatchString(p.message) {
				kind = chela.NotFound
			}
			return kind, true
		}
	}
	return "", false
}
