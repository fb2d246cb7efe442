package shell

import (
	"path"
	"slices"
	"strings"

	"chela/internal/tool/workspace"
)

// A danger is a kind of harm that commands with certain names may do.
type danger struct {
	names  []string
	when   func(c command) bool // nil means always
	reason string
}

// dangers is checked as a whole: a command may be in several.
var dangers = []danger{
	{[]string{"rm"}, deletesBroadly, "it deletes whole directories"},
	{[]string{"find"}, has("-delete"), "it deletes the files it finds"},
	{[]string{"shred", "srm"}, nil, "it destroys files beyond recovery"},
	{[]string{"dd"}, writesDevice, "it writes to a device"},
	{[]string{"mkfs", "mke2fs", "mkswap", "wipefs", "fdisk", "sfdisk", "cfdisk", "gdisk", "sgdisk", "parted", "blkdiscard", "cryptsetup"}, nil, "it formats or partitions a disk"},
	{[]string{"chmod", "chown", "chgrp", "setfacl"}, recursive, "it changes the permissions of whole directories"},
	{[]string{"git"}, gitDestroys, "it discards work or rewrites history"},
	{[]string{"git"}, gitRuns, "it makes git run a command"},
	{[]string{"shutdown", "reboot", "halt", "poweroff", "telinit", "init", "systemctl", "service", "launchctl"}, nil, "it stops or changes services or the machine"},
	{[]string{"kill"}, killsBroadly, "it ends processes that it did not start"},
	{[]string{"killall", "killall5", "pkill"}, nil, "it ends processes by their name"},
	{[]string{"crontab", "at", "batch", "systemd-run"}, nil, "it schedules a command to run later, outside this call"},
	{[]string{"sudo", "su", "doas", "pkexec", "runuser", "setpriv"}, nil, "it runs as another user"},
	{[]string{"mount", "umount", "modprobe", "insmod", "rmmod", "sysctl", "iptables", "ip6tables", "nft", "ufw"}, nil, "it changes the system"},
	{[]string{"useradd", "userdel", "usermod", "groupadd", "groupdel", "passwd", "chpasswd", "visudo"}, nil, "it changes users or their rights"},
	{[]string{"nsenter", "unshare", "chroot"}, nil, "it leaves or makes a confinement"},
	{[]string{"docker", "podman", "kubectl", "helm", "terraform", "pulumi"}, hasAny("rm", "rmi", "prune", "delete", "destroy", "uninstall", "apply", "push", "--privileged"), "it changes or removes containers, clusters or cloud resources"},
	{[]string{"npm", "pnpm", "yarn", "cargo", "gem", "twine", "poetry"}, hasAny("publish", "push", "upload", "yank"), "it publishes to others"},
	{[]string{"eval", "source", "."}, fed, "it runs the output of another program"},
}

// interpreters run the text of their input, unless they are given a file.
var interpreters = append([]string{"python", "python2", "python3", "perl", "ruby", "node", "php", "lua", "tclsh"}, shells...)

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
	if slices.Contains(interpreters, c.name()) && (fed(c) || c.piped && !c.givenFile()) {
		reasons = append(reasons, "it runs the output of another program")
	}
	return reasons
}

// named reports whether name is a name of the danger, or such a name with a
// kind or version appended, such as mkfs.ext4.
func (d danger) named(name string) bool {
	stem, _, dotted := strings.Cut(name, ".")
	return slices.Contains(d.names, name) || dotted && slices.Contains(d.names, stem)
}

// givenFile reports whether an interpreter is given a file to run.
func (c command) givenFile() bool {
	return slices.ContainsFunc(c.words[1:], func(w word) bool { return w.fixed && !strings.HasPrefix(w.text, "-") })
}

func fed(c command) bool {
	return slices.ContainsFunc(c.words[1:], func(w word) bool { return w.fed })
}

func has(arg string) func(command) bool { return hasAny(arg) }

func hasAny(args ...string) func(command) bool {
	return func(c command) bool {
		return slices.ContainsFunc(c.words[1:], func(w word) bool { return slices.Contains(args, w.text) })
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

// gitDestroys reports whether git discards work, here or at a remote.
func gitDestroys(c command) bool {
	verbs := map[string]func() bool{
		"push": func() bool {
			return c.option("fd", "force") || c.option("", "force-with-lease") || c.option("", "delete") ||
				c.option("", "mirror") || c.option("", "prune") ||
				slices.ContainsFunc(c.words[2:], func(w word) bool { return strings.HasPrefix(w.text, "+") || strings.HasPrefix(w.text, ":") })
		},
		"reset":         func() bool { return c.option("", "hard") },
		"clean":         func() bool { return c.option("f", "force") },
		"checkout":      func() bool { return c.option("f", "force") || hasAny(".", "--")(c) },
		"restore":       func() bool { return true },
		"branch":        func() bool { return c.option("D", "") },
		"stash":         func() bool { return hasAny("drop", "clear")(c) },
		"reflog":        func() bool { return hasAny("expire", "delete")(c) },
		"filter-branch": func() bool { return true },
		"filter-repo":   func() bool { return true },
		"update-ref":    func() bool { return c.option("d", "") },
	}
	for _, w := range c.words[1:] {
		if destroys, ok := verbs[w.text]; ok {
			return destroys()
		}
	}
	return false
}

// gitRuns reports whether a setting given to git may be a command.
func gitRuns(c command) bool {
	return c.option("c", "config-env") || c.option("", "exec-path") || c.option("", "upload-pack") ||
		hasAny("config", "alias")(c) && slices.ContainsFunc(c.words, func(w word) bool {
			return strings.HasPrefix(w.text, "alias.") || strings.HasPrefix(w.text, "core.") || strings.Contains(w.text, "!")
		})
}

func killsBroadly(c command) bool {
	return slices.ContainsFunc(c.words[1:], func(w word) bool { return w.text == "1" || w.text == "-1" })
}

// writeRisk returns why writing to a file may do harm, or "".
func writeRisk(target word) string {
	if strings.HasPrefix(target.text, "/dev/") && !slices.Contains([]string{"/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty"}, target.text) {
		return "it writes to a device"
	}
	return obeyedRisk(target)
}

// secret reports whether w names a file that holds keys or passwords, by its
// usual location.
func secret(w word) bool {
	parts := strings.Split(w.text, "/")
	for _, dir := range parts[:len(parts)-1] {
		if slices.Contains([]string{".ssh", ".gnupg", ".aws", ".kube", ".docker", ".password-store"}, dir) {
			return true
		}
	}
	switch base := parts[len(parts)-1]; {
	case strings.HasPrefix(base, ".env."):
		return base != ".env.example"
	case strings.HasSuffix(base, ".pem"):
		return true
	default:
		return slices.Contains([]string{
			".ssh", ".gnupg", ".env", ".envrc", ".netrc", ".npmrc", ".pypirc", ".git-credentials", ".pgpass", "master.key", "shadow", "gshadow",
			"id_rsa", "id_ed25519", "id_ecdsa", "id_dsa",
		}, base)
	}
}
