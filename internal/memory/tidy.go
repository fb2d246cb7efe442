package memory

import (
	"context"
	"strings"
	"time"

	"chela"
	"chela/internal/store"
)

// KeepDaily is for how many days the logs of days stay.
const KeepDaily = 30

// tidied is who deletes what is too old.
const tidied = "chela (hygiene)"

// Tidy deletes the logs of an agent that are of days more than KeepDaily days ago,
// and returns how many those were. As with every deletion, what they said stays
// among their versions. One that somebody writes meanwhile stays.
func (k *Keeper) Tidy(ctx context.Context, agent string) (deleted int, err error) {
	logs, err := store.Find(ctx, k.store, func(r *store.Read) ([]chela.Document, error) { return r.Documents(ctx, agent, chela.DocsDaily) })
	if err != nil {
		return 0, err
	}
	oldest := chela.DailyDocument(k.Now().In(k.Zone).AddDate(0, 0, -KeepDaily))
	for _, d := range logs {
		if day, ok := dayOf(d.Path); !ok || day >= oldest {
			continue
		}
		_, err := k.Delete(ctx, chela.DocumentEdit{
			Agent: agent, Path: d.Path, Key: "tidy/" + d.WrittenAt.UTC().Format(time.RFC3339Nano), Expect: &d.Version, Author: chela.Author{By: tidied},
		})
		switch chela.KindOf(err) {
		case "":
			deleted++
		case chela.Conflict, chela.NotFound:
		default:
			return deleted, err
		}
	}
	return deleted, nil
}

// dayOf returns the log of the day to which a document belongs: itself, or the one
// that it goes on with. Logs are ordered as their days are.
func dayOf(path string) (string, bool) {
	name, ok := strings.CutPrefix(path, chela.DocsDaily)
	if !ok || len(name) < len(time.DateOnly) {
		return "", false
	}
	day, err := time.Parse(time.DateOnly, name[:len(time.DateOnly)])
	return chela.DailyDocument(day), err == nil
}
