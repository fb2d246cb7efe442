#!/bin/sh
# Compares the speed of bin/chela with that of the last release in the same run. The
# last release is the newest tag; before the first one it is the commit named in
# bench/load/base. Its program is built in a worktree that is removed afterwards.
set -eu

base=${BASE:-$(git describe --tags --abbrev=0 2>/dev/null || cat bench/load/base)}
if ! git cat-file -e "$base^{commit}" 2>/dev/null; then
	if [ "${CI:-}" = true ]; then
		echo "regress: the commit $base is not in this clone; fetch the whole history" >&2
		exit 1
	fi
	echo "skip  regress: the commit $base is not in this clone"
	exit 0
fi
dir=$(mktemp -d)
cleanup() {
	git worktree remove --force "$dir/base" 2>/dev/null || true
	rm -rf "$dir"
}
trap cleanup EXIT
trap 'exit 130' INT TERM
git worktree add --quiet --detach "$dir/base" "$base"
(cd "$dir/base" && CGO_ENABLED=0 go build -trimpath -ldflags "-s -w" -o "$dir/chela-base" ./cmd/chela)
echo "regress: against $base"
go run ./bench/load versus -chela bin/chela -against "$dir/chela-base"
