#!/bin/sh
# Lists the packages that a message crosses: those with a statement that `chela ask`
# executes in an empty home and `chela sessions list` does not in a home that exists.
# Fails if there are more than MOST.
set -eu

MOST=${MOST:-37}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
trap 'exit 130' INT TERM
mkdir "$dir/ask" "$dir/list"
CGO_ENABLED=0 go build -trimpath -cover -coverpkg=./... -o "$dir/chela" ./cmd/chela

# The environment is bare, so that no key and no configuration chooses a model.
run() {
	cover=$1
	shift
	env -i PATH="$PATH" HOME="$dir" GOCOVERDIR="$cover" "$dir/chela" --home "$@" </dev/null >"$dir/out" 2>&1 || {
		cat "$dir/out" >&2
		exit 1
	}
}
run "$dir/ask" "$dir/new" ask hi
mkdir "$dir/unused"
run "$dir/unused" "$dir/made" sessions list
run "$dir/list" "$dir/made" sessions list
go tool covdata textfmt -i="$dir/ask" -o "$dir/ask.txt"
go tool covdata textfmt -i="$dir/list" -o "$dir/list.txt"

# A line of a profile is FILE:RANGE STATEMENTS TIMES.
awk -v most="$MOST" '
	FNR == 1 { next }
	NR == FNR { if ($3 > 0) listed[$1] = 1; next }
	$3 > 0 && !($1 in listed) { sub(/\/[^\/]*$/, "", $1); crossed[$1] += $2 }
	END {
		for (p in crossed) { print p, crossed[p] | "sort"; n++ }
		close("sort")
		print "a message crosses " n " packages, at most " most
		exit n > most
	}' "$dir/list.txt" "$dir/ask.txt"
