// Package api holds what goes over the HTTP API of a daemon: the bodies of
// requests and answers, for the gateway that serves them and the client that
// the commands use. Types of the root package are sent unchanged.
//
// Every answer that is not a success is an [ErrorBody] with the status of its
// kind ([StatusOf]). Lists come in pages: a [Page] names the cursor from which
// the next one begins, until it is empty.
package api
