package shell

import (
	"path"
	"slices"
	"strings"

	"chela/internal/tool/workspace"
)

// A reach is how far the commands of a line reach by their names and arguments,
// whether or not the sandbox lets them. It decides only whether a person is asked.
type reach int

const (
	reachNone    reach = iota // the workspace
	reachFetch                // it reads from other machines
	reachOutward              // it sends to other machines, or changes files outside of the workspace
)

// outward are programs that send to others or act on other machines.
const outward = `
	ssh scp sftp ftp lftp nc ncat netcat socat telnet mail mailx mutt sendmail msmtp swaks rclone s3cmd
	docker podman nerdctl buildah skopeo kubectl helm oc terraform tofu pulumi ansible ansible-playbook vagrant packer nomad
	aws gcloud gsutil az doctl flyctl fly heroku vercel netlify firebase wrangler gh glab hub tea twine goreleaser svn hg
	psql mysql mongosh redis-cli apt apt-get dpkg dnf yum pacman apk brew snap flatpak nix nix-env
`

// fetching are programs that read from other machines, with these words among
// their arguments; without a word always.
var fetching = []struct{ name, words string }{
	{"curl wget aria2c http https xh dig host nslookup ping", ""},
	{"git", "fetch pull clone ls-remote submodule"},
}

// sending are the words with which a program sends to others.
var sending = []struct{ name, words string }{
	{"git", "push send-email request-pull svn p4"},
	{"npm pnpm yarn bun npx bunx", "publish unpublish deprecate dist-tag owner access adduser login logout token team hook star profile"},
	{"cargo", "publish yank owner login logout"},
	{"gem", "push yank owner signin"},
	{"poetry uv flit hatch pdm rye", "publish"},
	{"mvn mvnw gradle gradlew sbt", "deploy publish uploadArchives release:perform publishToMavenCentral publishToSonatype"},
	{"dotnet nuget", "push"},
	{"vsce ovsx composer", "publish"},
	{"python python3 pipx", "twine"},
	{"rsync", ""},
}

// reach returns how far a command reaches.
func (c command) reach() reach {
	name, args := c.name(), c.words[1:]
	says := func(words string) bool {
		return words == "" || slices.ContainsFunc(args, func(w word) bool { return among(words, w.text) })
	}
	switch {
	case versionOnly(args):
		return reachNone
	case name == "rsync":
		if slices.ContainsFunc(args, func(w word) bool { return !w.fixed || strings.Contains(w.text, ":") }) {
			return reachOutward
		}
	case among(outward, name):
		return reachOutward
	}
	for _, s := range sending {
		if name != "rsync" && among(s.name, name) && says(s.words) {
			return reachOutward
		}
	}
	if among(writers+"rm rmdir", name) && name != "curl" && name != "wget" && slices.ContainsFunc(args, outside) {
		return reachOutward
	}
	for _, f := range fetching {
		if among(f.name, name) && says(f.words) {
			if c.nature() == natureSurprising {
				return reachOutward // it may send, or write anywhere
			}
			return reachFetch
		}
	}
	return reachNone
}

// outside reports whether an argument is a path that leads out of the workspace,
// to a place that keeps files.
func outside(w word) bool {
	text := w.text
	if _, value, ok := strings.Cut(text, "="); ok && strings.HasPrefix(text, "-") || ok && strings.HasPrefix(text, "of=") {
		text = value
	}
	text = path.Clean(text)
	switch {
	case strings.HasPrefix(text, "~"), text == "$HOME", strings.HasPrefix(text, "$HOME/"):
		return false // the workspace is the home of commands
	case strings.HasPrefix(text, workspace.RootsDir+"/"):
		return false // the sandbox lets no command change anything there
	case strings.HasPrefix(text, "/tmp/"), strings.HasPrefix(text, "/dev/"), !strings.HasPrefix(text, "/") && !strings.HasPrefix(text, ".."):
		return false
	}
	_, err := workspace.Clean(text)
	return err != nil
}
