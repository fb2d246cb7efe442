package main_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/jackc/pgx/v5"

	"chela/internal/api"
)

// TestReadOnlyPostgres makes the server refuse writes while a daemon runs, as a
// standby does: a message gets 503 with Retry-After, reads go on, and the same
// message is taken when writes are possible again.
func TestReadOnlyPostgres(t *testing.T) {
	t.Parallel()
	model := newModel(t)
	d := newDaemon(t, engines["postgres"](t), model.env()...)
	d.begin()
	first := d.say(api.Message{Text: "hello"}).Turn
	model.next(t).answer <- reply{text: "Hi."}
	d.turn(first)
	d.settle()

	conn, err := pgx.Connect(t.Context(), d.url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	readOnly := func(on bool) {
		t.Helper()
		var name string
		if err := conn.QueryRow(t.Context(), "select current_database()").Scan(&name); err != nil {
			t.Fatal(err)
		}
		for _, statement := range []string{
			"set default_transaction_read_only = off", // of this connection
			fmt.Sprintf("alter database %s set default_transaction_read_only = %t", pgx.Identifier{name}.Sanitize(), on),
			"select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()",
		} {
			if _, err := conn.Exec(t.Context(), statement); err != nil {
				t.Fatal(err)
			}
		}
	}
	m := api.Message{Text: "still there?", MessageID: "two"}
	readOnly(true)
	for range 3 { // also by the connections that replaced others
		res, err := http.DefaultClient.Do(d.request(t.Context(), http.MethodPost, "/api/messages", m))
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != http.StatusServiceUnavailable || res.Header.Get("Retry-After") == "" {
			t.Errorf("the message got %s with Retry-After %q", res.Status, res.Header.Get("Retry-After"))
		}
	}
	if got := d.turn(first); got.Answer != "Hi." {
		t.Errorf("the first turn is %v", got)
	}

	readOnly(false)
	second := d.say(m).Turn
	model.next(t).answer <- reply{text: "Yes."}
	if got := d.turn(second); got.Answer != "Yes." {
		t.Errorf("the second turn is %v", got)
	}
	d.stop()
}
