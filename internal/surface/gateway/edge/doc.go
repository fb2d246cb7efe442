// Package edge is the middleware before the routes: it limits requests,
// authenticates them, and dispatches them to their routes.
//
//	connection ─▶ bytes, time ─▶ host ─▶ origin ─▶ route ─▶ who asks ─▶ scope ─▶ query ─▶ rate ─▶ body ─▶ serve
//	   503          431, 408      421      403      404, 405   401        403      400      429    413
//
// All refusals happen here, in one form, with an id that is also in the log.
// The package does not depend on the routes.
//
// A long request is cancelled when the server stops and when its token is
// revoked; see [Route].
package edge
