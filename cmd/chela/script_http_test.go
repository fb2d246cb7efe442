package main_test

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// overHTTP asks the daemon at $ADDRESS over HTTP, with the token in $TOKEN if there
// is one. Its answer is the output, the headers are on standard error.
func overHTTP(ts *testscript.TestScript, neg bool, args []string) {
	args = take(ts, neg, args, 3)
	req, err := http.NewRequest(args[1], "http://"+ts.Getenv("ADDRESS")+args[2], strings.NewReader(strings.Join(args[3:], " ")))
	ts.Check(err)
	if token := ts.Getenv("TOKEN"); token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	if len(args) > 3 {
		req.Header.Set("Content-Type", "application/json")
	}
	client := &http.Client{Timeout: patience, Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Do(req)
	ts.Check(err)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	ts.Check(err)
	fmt.Fprintf(ts.Stdout(), "%s\n", body)
	ts.Check(res.Header.Write(ts.Stderr()))
	if args[0] != strconv.Itoa(res.StatusCode) {
		ts.Fatalf("%s %s is %s, not %s: %s", args[1], args[2], res.Status, args[0], body)
	}
}
