#!/bin/sh
# Installs what the tests need and this machine lacks: a C compiler, for the
# race detector, the programs of a PostgreSQL server, git, which a test runs in
# the sandbox, Node.js with npm, for the client of OpenAI, and curl, for the
# lines of the README. That takes root and apt. Elsewhere it names what is
# missing and goes on; what cannot run is then skipped by name or fails.
set -eu

missing=''

cc=$(go env CC)
if ! echo '#include <stdlib.h>' | $cc -E - >/dev/null 2>&1; then
	missing="$missing gcc libc6-dev"
fi

set -- /usr/lib/postgresql/*/bin/initdb
if ! command -v initdb >/dev/null && [ ! -x "$1" ]; then
	missing="$missing postgresql"
fi

if ! command -v git >/dev/null; then
	missing="$missing git"
fi

if ! command -v node >/dev/null; then
	missing="$missing nodejs"
fi
if ! command -v npm >/dev/null; then
	missing="$missing npm"
fi

if ! command -v curl >/dev/null; then
	missing="$missing curl"
fi

if [ -z "$missing" ]; then
	exit 0
fi
if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
	echo "missing for some tests:$missing" >&2
	exit 0
fi

# The tests begin servers of their own: the package need not begin one.
conf=/etc/postgresql-common/createcluster.conf
if [ ! -e $conf ]; then
	mkdir -p "$(dirname $conf)"
	echo 'create_main_cluster = false' >$conf
fi

echo "installing:$missing" >&2
export DEBIAN_FRONTEND=noninteractive UCF_FORCE_CONFFOLD=1
apt-get update -qq
# shellcheck disable=SC2086 # the list is meant to be split
apt-get install -y -qq --no-install-recommends $missing >/dev/null
