package shell

import (
	"path"
	"slices"
	"strings"

	"chela/internal/tool/workspace"
)

// A danger is a kind of harm that commands with certain names may do.
type danger struct {
	names  string               // words
	when   func(c command) bool // nil means always
	reason string
}

// dangers is checked as a whole: a command may be in several.
var dangers = []danger{
	{"rm", deletesBroadly, "it deletes whole directories"},
	{"find", hasAny("-delete"), "it deletes the files it finds"},
	{"shred srm", nil, "it destroys files beyond recovery"},
	{"dd", writesDevice, "it writes to a device"},
	{"mkfs mke2fs mkswap wipefs fdisk sfdisk cfdisk gdisk sgdisk parted blkdiscard cryptsetup", nil, "it formats or partitions a disk"},
	{"chmod chown chgrp setfacl", recursive, "it changes the permissions of whole directories"},
	{"git", gitDestroys, "it discards work or rewrites history"},
	{"git", gitRuns, "it makes git run a command"},
	{"shutdown reboot halt poweroff telinit init systemctl service launchctl", nil, "it stops or changes services or the machine"},
	{"kill", killsBroadly, "it ends processes that it did not start"},
	{"killall killall5 pkill", nil, "it ends processes by their name"},
	{"crontab at batch systemd-run", nil, "it schedules a command to run later, outside this call"},
	{"sudo su doas pkexec runuser setpriv", nil, "it runs as another user"},
	{"mount umount modprobe insmod rmmod sysctl iptables ip6tables nft ufw", nil, "it changes the system"},
	{"useradd userdel usermod groupadd groupdel passwd chpasswd visudo", nil, "it changes users or their rights"},
	{"nsenter unshare chroot", nil, "it leaves or makes a confinement"},
	{"docker podman kubectl helm terraform pulumi", hasAny("rm rmi prune delete destroy uninstall apply push --privileged"), "it changes or removes containers, clusters or cloud resources"},
	{"npm pnpm yarn bun cargo gem twine poetry uv flit hatch pdm vsce ovsx", hasAny("publish unpublish push upload yank deprecate"), "it publishes to others"},
	{"python python3 pipx", hasAny("twine"), "it publishes to others"},
	{"gh glab", hasAny("release create edit delete merge close upload workflow run"), "it publishes to others"},
	{"mvn mvnw gradle gradlew", hasAny("deploy publish"), "it publishes to others"},
	{"goreleaser", hasAny("release publish"), "it publishes to others"},
	{"dotnet nuget", hasAny("push"), "it publishes to others"},
	{"eval source .", fed, "it runs the output of another program"},
}

// interpreters run the text of their input, unless they are given a file.
const interpreters = "python python2 python3 perl ruby node php lua tclsh " + shells

// risks returns the reasons why c may do harm.
func (c command) risks() []string {
	var reasons []string
	for _, d := range dangers {
		if d.named(c.name()) && (d.when == nil || d.when(c)) {
			reasons = append(reasons, d.reason)
		}
	}
	if slices.ContainsFunc(c.words[1:], secret) {
		reasons = append(reasons, "it uses a file that holds keys or passwords")
	}
	if among(interpreters, c.name()) && (fed(c) || c.piped && !c.givenFile()) {
		reasons = append(reasons, "it runs the output of another program")
	}
	return reasons
}

// named reports whether name is a name of the danger, or such a name with a
// kind or version appended, such as mkfs.ext4.
func (d danger) named(name string) bool {
	stem, _, dotted := strings.Cut(name, ".")
	return among(d.names, name) || dotted && among(d.names, stem)
}

// givenFile reports whether an interpreter is given a file to run.
func (c command) givenFile() bool {
	return slices.ContainsFunc(c.words[1:], func(w word) bool { return w.fixed && !strings.HasPrefix(w.text, "-") })
}

func fed(c command) bool {
	return slices.ContainsFunc(c.words[1:], func(w word) bool { return w.fed })
}

// among reports whether text is one of words, which are separated by spaces.
func among(words, text string) bool { return slices.Contains(strings.Fields(words), text) }

func hasAny(args string) func(command) bool {
	return func(c command) bool {
		return slices.ContainsFunc(c.words[1:], func(w word) bool { return among(args, w.text) })
	}
}

// option reports whether c has the option, in a cluster of short options or as
// a long one, possibly abbreviated. An argument that is expanded may be any
// option that begins like it.
func (c command) option(short string, long string) bool {
	for _, w := range c.words[1:] {
		if w.text == "--" {
			return false
		}
		name, _, _ := strings.Cut(w.text, "=")
		switch {
		case !strings.HasPrefix(w.text, "-"):
		case !w.fixed:
			return true
		case strings.HasPrefix(w.text, "--"):
			if long != "" && len(name) > 2 && strings.HasPrefix("--"+long, name) {
				return true
			}
		case short != "" && strings.ContainsAny(w.text[1:], short):
			return true
		}
	}
	return false
}

func recursive(c command) bool { return c.option("R", "recursive") }

func deletesBroadly(c command) bool {
	return c.option("rR", "recursive") && slices.ContainsFunc(c.words[1:], broad)
}

// broad reports whether an argument may be more than one directory of the
// workspace: a root or home, a pattern, a parent directory, or unknown.
func broad(w word) bool {
	text := path.Clean(w.text)
	switch {
	case strings.HasPrefix(w.text, "-"):
		return false
	case !w.fixed:
		return true
	case strings.HasPrefix(text, ".."):
		return true
	case strings.HasPrefix(text, "/tmp/"):
		return false // it is discarded anyway
	}
	name, err := workspace.Clean(text)
	return err != nil || name == "." || name == ".git"
}

func writesDevice(c command) bool {
	return slices.ContainsFunc(c.words[1:], func(w word) bool {
		target, ok := strings.CutPrefix(w.text, "of=")
		return ok && strings.HasPrefix(target, "/dev/") && target != "/dev/null"
	})
}

// A gitDestroyer says when a command of git discards work.
type gitDestroyer struct {
	always            bool
	short, long, args string
}

func (d gitDestroyer) none() bool { return d == gitDestroyer{} }

// gitDestroyers are the commands of git that discard work, here or at a remote:
// always, or with one of these short and long options or arguments.
var gitDestroyers = map[string]gitDestroyer{
	"push":          {short: "fd", long: "force force-with-lease delete mirror prune"},
	"reset":         {long: "hard"},
	"clean":         {short: "f", long: "force"},
	"checkout":      {short: "fB", long: "force", args: ". --"},
	"switch":        {short: "Cf", long: "force-create discard-changes force"},
	"restore":       {always: true},
	"rebase":        {always: true},
	"branch":        {short: "DfM", long: "force"},
	"tag":           {short: "df", long: "delete force"},
	"stash":         {args: "drop clear"},
	"reflog":        {args: "expire delete"},
	"filter-branch": {always: true},
	"filter-repo":   {always: true},
	"update-ref":    {always: true},
	"replace":       {always: true},
	"prune":         {always: true},
	"gc":            {long: "prune aggressive"},
	"fast-import":   {always: true},
}

// gitValued are the options of git itself that have a value.
const gitValued = "-C -c --git-dir --work-tree --namespace --config-env --super-prefix --attr-source"

// gitVerb returns the position of the command among the words after git: the first
// that is no option of git itself. One that is not known in advance is none.
func gitVerb(args []word) (at int, ok bool) {
	for at < len(args) && args[at].fixed && strings.HasPrefix(args[at].text, "-") {
		if among(gitValued, args[at].text) {
			at++
		}
		at++
	}
	return at, at < len(args) && args[at].fixed
}

func gitDestroys(c command) bool {
	verb, ok := gitVerb(c.words[1:])
	if !ok || gitDestroyers[c.words[1+verb].text].none() {
		return false
	}
	name := c.words[1+verb].text
	d := gitDestroyers[name]
	c = command{words: c.words[1+verb:]} // options before it are git's own
	long := func(option string) bool { return c.option("", option) }
	forced := func(w word) bool { return strings.HasPrefix(w.text, "+") || strings.HasPrefix(w.text, ":") }
	return d.always || d.short != "" && c.option(d.short, "") || slices.ContainsFunc(strings.Fields(d.long), long) ||
		hasAny(d.args)(c) || name == "push" && slices.ContainsFunc(c.words[1:], forced)
}

// gitRuns reports whether a setting given to git may be a command.
func gitRuns(c command) bool {
	c = c.withoutHarmlessSettings()
	own := c // with the options of git itself
	if verb, ok := gitVerb(c.words[1:]); ok {
		own = command{words: c.words[:1+verb]}
	}
	return own.option("c", "config-env") || c.option("", "exec-path") || c.option("", "upload-pack") ||
		hasAny("config alias")(c) && slices.ContainsFunc(c.words, func(w word) bool {
			return strings.HasPrefix(w.text, "alias.") || strings.HasPrefix(w.text, "core.") || strings.Contains(w.text, "!")
		})
}

func killsBroadly(c command) bool {
	return slices.ContainsFunc(c.words[1:], func(w word) bool { return w.text == "1" || w.text == "-1" })
}

// writeRisk returns why writing to a file may do harm, or "".
func writeRisk(target word) string {
	if strings.HasPrefix(target.text, "/dev/") && !among("/dev/null /dev/stdout /dev/stderr /dev/tty", target.text) {
		return "it writes to a device"
	}
	return obeyedRisk(target)
}

// secret reports whether w names a file that holds keys or passwords, by its
// usual location.
func secret(w word) bool {
	parts := strings.Split(w.text, "/")
	for _, dir := range parts[:len(parts)-1] {
		if among(".ssh .gnupg .aws .kube .docker .password-store", dir) {
			return true
		}
	}
	switch base := parts[len(parts)-1]; {
	case strings.HasPrefix(base, ".env."):
		return base != ".env.example"
	case strings.HasSuffix(base, ".pem"):
		return true
	default:
		return among(`
			.ssh .gnupg .env .envrc .netrc .npmrc .pypirc .git-credentials .pgpass master.key shadow gshadow id_rsa id_ed25519
			id_ecdsa id_dsa
		`, base)
	}
}
