package shell

// readingWrappers run other commands, which are judged by themselves, and do
// nothing else.
const readingWrappers = "builtin command env nice timeout xargs"

// runners run a command that is one of their arguments in a form that is not
// read. No pattern with wildcards covers them.
const runners = `
	ld.so ld-linux.so.2 ld-linux-x86-64.so.2 ld-linux-aarch64.so.1 chroot chrt dbus-run-session entr expect fakeroot faketime
	firejail bwrap flock gdb ltrace lldb nsenter npx bunx uvx parallel pkexec prlimit proot rlwrap run-parts runuser screen script setarch linux32 linux64
	psql mysql m4 openssl sqlite3 setpriv socat ncat nc ssh-agent start-stop-daemon strace su systemd-run taskset tmux unbuffer unshare valgrind watch xterm perf catchsegv
`

// versioned are programs that are harmless with --version as their only
// argument.
const versioned = `
	bash cargo cc clang cmake deno docker g++ gcc gem java javac kubectl mvn node npm npx perl php pip pip3 pnpm psql python python3
	ruby rustc sh sqlite3 terraform yarn
`

// grammars has the grammars of programs other than find, sed, awk, git and go.
var grammars = map[string]grammar{
	"arch": {safe: true}, "base32": {safe: true}, "base64": {safe: true}, "basename": {safe: true}, "b2sum": {safe: true}, "cat": {safe: true},
	"cd": {flags: "LPe", operands: atMost(1)}, "cksum": {safe: true}, "cmp": {safe: true}, "column": {safe: true}, "comm": {safe: true}, "cut": {safe: true},
	"df": {safe: true}, "diff": {safe: true}, "dir": {safe: true}, "dirname": {safe: true}, "du": {safe: true}, "echo": {safe: true},
	"egrep": {safe: true}, "expand": {safe: true}, "expr": {safe: true}, "false": {safe: true}, "fgrep": {safe: true}, "fold": {safe: true}, "fmt": {safe: true},
	"free": {safe: true}, "getconf": {safe: true}, "grep": {safe: true}, "groups": {safe: true}, "head": {safe: true}, "hexdump": {safe: true}, "id": {safe: true},
	"join": {safe: true}, "jq": {safe: true}, "locale": {safe: true}, "ls": {safe: true}, "md5sum": {safe: true}, "nl": {safe: true}, "nproc": {safe: true},
	"numfmt": {safe: true}, "od": {safe: true}, "paste": {safe: true}, "pathchk": {safe: true}, "printenv": {safe: true}, "printf": {safe: true}, "ps": {safe: true},
	"pwd": {safe: true}, "readlink": {safe: true}, "realpath": {safe: true}, "rev": {safe: true}, "seq": {safe: true}, "sha1sum": {safe: true},
	"sha224sum": {safe: true}, "sha256sum": {safe: true}, "sha384sum": {safe: true}, "sha512sum": {safe: true}, "stat": {safe: true}, "strings": {safe: true},
	"sum": {safe: true}, "tac": {safe: true}, "tail": {safe: true}, "test": {safe: true}, "[": {safe: true}, "tr": {safe: true}, "true": {safe: true}, ":": {safe: true},
	"tsort": {safe: true}, "type": {safe: true}, "uname": {safe: true}, "unexpand": {safe: true}, "uptime": {safe: true}, "vdir": {safe: true}, "wc": {safe: true},
	"which": {safe: true}, "whoami": {safe: true},

	"date": {
		flags: "uRI", valued: "dr", long: "date= reference= utc universal rfc-email rfc-3339= iso-8601?",
		operands: startWith("+"), // others set the clock
	},
	"file": {
		flags: "bhikLNnrsv0", valued: "eFfP",
		long: "brief mime mime-type mime-encoding extension dereference no-dereference keep-going raw print0",
	},
	"hostname": {flags: "fsdiI", operands: atMost(0)},
	"sort": {
		flags: "bdfgiMhnRrVcCmsuz", valued: "ktS",
		long: `key= field-separator= buffer-size= ignore-leading-blanks dictionary-order ignore-case general-numeric-sort ignore-nonprinting
			month-sort human-numeric-sort numeric-sort random-sort reverse version-sort check? merge stable unique zero-terminated parallel= sort=`,
	},
	"tree": {
		flags: "adfilxpsughDFqNQrtUvcSnAJXC", valued: "LPI",
		long: "noreport dirsfirst filesfirst gitignore du prune inodes device si matchdirs ignore-case filelimit= charset= sort= timefmt=",
	},
	"uniq": {
		flags: "cdDiuz", valued: "fsw",
		long:     "count repeated all-repeated? ignore-case unique zero-terminated skip-fields= skip-chars= check-chars= group?",
		operands: atMost(1), // the second is a file to write
	},
	"rg": {
		flags: "inNlLcowvxqFSsuUaP0HIhp.", valued: "eAgBCtTmMjdrf",
		long: `after-context= before-context= context= case-sensitive ignore-case smart-case color= column count count-matches crlf engine= file=
			files files-with-matches files-without-match fixed-strings follow glob= heading hidden iglob= invert-match json line-number
			line-regexp max-columns= max-count= max-depth= multiline multiline-dotall no-config no-filename no-heading no-ignore no-ignore-vcs
			no-line-number no-messages null only-matching passthru pcre2 pretty quiet regexp= replace= sort= sortr= stats text threads= trim type=
			type-list type-not= unrestricted vimgrep with-filename word-regexp`,
	},

	"cargo": {
		flags: "qvr", valued: "pj", changes: true, operands: verbs("bench build check clippy doc fmt metadata run test tree"),
		long: "all all-features all-targets bin= bins features= jobs= lib locked frozen offline no-default-features package= quiet release tests verbose workspace",
	},
	"curl": {
		flags: "sSfLIivgN46", valued: "HAemr", changes: true,
		long: "silent show-error fail location head include verbose header= user-agent= max-time= compressed retry= connect-timeout=",
	},
	"less": {flags: "FRSXNinIM", changes: true, operands: notPlus}, "more": {flags: "dlfpcsu", changes: true, operands: notPlus},
	"make": {
		flags: "Bknqstiwd0123456789j", valued: "Cl", changes: true, operands: without("="),
		long: "always-make directory= keep-going dry-run just-print question silent quiet touch ignore-errors jobs? print-directory no-print-directory",
	},
	"man":  {flags: "afkwW0123456789", changes: true},
	"node": {stops: true, changes: true, long: "test enable-source-maps no-warnings trace-warnings"},
	"npm": {
		flags: "s", valued: "w", changes: true, operands: verbs("audit build ci ls list outdated run run-script start t test view"),
		long: "if-present silent workspace= workspaces json depth= omit= include= production",
	},
	"perl": {flags: "wc", stops: true, changes: true}, "php": {stops: true, changes: true},
	"python": {flags: "uBsSEIO", stops: true, changes: true}, "python3": {flags: "uBsSEIO", stops: true, changes: true}, "ruby": {flags: "wc", stops: true, changes: true},
	"rsync": {
		flags: "avrlptgoDznuHAXSxiPhcqW", changes: true, every: without(":"), // names of other machines
		long: "archive verbose recursive dry-run delete exclude= include= progress stats checksum human-readable compress update",
	},
	"scp": {flags: "46Cpqrv", valued: "P", changes: true}, "ssh": {flags: "46CnqTtvx", valued: "pl", stops: true, changes: true},
	"split": {flags: "dxeu0123456789", valued: "abClnt", changes: true, long: "numeric-suffixes? hex-suffixes? lines= bytes= number= suffix-length= verbose"},
	"tar": {
		flags: "cxtrujJzvpkhmOPS", valued: "Cf", changes: true, every: without(":"), // names of other machines
		long: "create extract get list append update gzip bzip2 xz zstd verbose file= directory= exclude= strip-components= keep-old-files",
	},
	"unzip": {flags: "lvtqnojpuLaZ1", valued: "dx", changes: true}, "zip": {flags: "rqjmu9876543210vD", valued: "x", changes: true},
	"vi": {flags: "RM", changes: true, operands: notPlus}, "vim": {flags: "RMnpoO", changes: true, operands: notPlus}, "view": {changes: true, operands: notPlus},
	"nvim": {flags: "RMnpoO", changes: true, operands: notPlus}, "nano": {changes: true, operands: notPlus}, "emacs": {flags: "nwq", changes: true, operands: notPlus},
	"ex": {changes: true, operands: notPlus}, "ed": {flags: "s", changes: true, operands: without("!")},
	"wget": {flags: "qSnv46c", valued: "TtU", changes: true, long: "quiet spider timeout= tries= user-agent= continue"},
}

// notPlus accepts operands without those that editors and pagers run as
// commands.
func notPlus(operands []word) bool {
	for _, w := range operands {
		if !w.fixed || len(w.text) > 0 && w.text[0] == '+' {
			return false
		}
	}
	return true
}
