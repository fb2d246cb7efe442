// Package edge lets requests in: it limits them, finds out who asks, and hands
// them to the route that they ask for.
//
//	connection ─▶ bytes, time ─▶ host ─▶ origin ─▶ route ─▶ who asks ─▶ scope ─▶ query ─▶ rate ─▶ body ─▶ serve
//	   503          431, 408      421      403      404, 405   401        403      400      429    413
//
// Whatever is refused is refused here, in one form, with an id that is also in
// the log. It knows nothing of what the routes do.
//
// A request that may take long is ended when the server stops and when the token
// it came with is revoked; see [Route].
package edge
