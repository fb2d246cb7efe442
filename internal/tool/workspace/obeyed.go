package workspace

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"chela"
)

// An obeyedKind is a kind of files that programs obey: writing such a file
// makes a program run, or instructs an agent, later and outside every sandbox.
type obeyedKind struct {
	by    string // the programs, for people
	dirs  string // names of folders: everything below them is of the kind
	files string // names of files, in which "*" stands for any text
}

// obeyedKinds lists the files that are never written without approval, by a
// command, a file tool, a patch or a download. Names are in lower case.
var obeyedKinds = []obeyedKind{
	// Version control runs hooks, filters, pagers and transports that its
	// configuration names, at the next status, commit or fetch.
	{
		by:   "version control",
		dirs: ".git .hg .svn .bzr .jj .husky .githooks .git-hooks",
		files: `
			.gitconfig .gitmodules .git-credentials .hgrc .pre-commit-config.yaml .pre-commit-hooks.yaml lefthook.y*ml
			.lefthook.y*ml lefthook-local.y*ml .lintstagedrc*
		`,
	},
	// Editors run tasks, debuggers and language servers of an opened folder,
	// and local start-up files.
	{
		by:   "editors",
		dirs: ".vscode .vscode-server .idea .fleet .zed .nova .vs .devcontainer .vim .emacs.d .theia",
		files: `
			.vimrc _vimrc .gvimrc .exrc .nvimrc .nvim.lua .vimrc.local .lvimrc .dir-locals.el .dir-locals-2.el .emacs .projectile
			*.code-workspace *.sublime-project .devcontainer.json .netrwhist
		`,
	},
	// Shells and environment managers read these whenever a terminal or a
	// folder is opened.
	{
		by:   "shells",
		dirs: ".config .local .direnv",
		files: `
			.bash* .zsh* .zlog* .zprofile .profile .login .logout .cshrc .tcshrc .kshrc .mkshrc .shrc .inputrc .envrc .env
			.env.local .env.*.local .env.dev* .env.prod* .env.test .env.stag* .tool-versions mise.toml .mise.toml .mise.*.toml
			flake.nix shell.nix default.nix devbox.json devenv.nix .xprofile .xinitrc .xsession .xsessionrc .pam_environment
			.screenrc .tmux.conf *.ps1xml microsoft.powershell_profile.ps1
		`,
	},
	// Clients take keys, hosts, proxies and commands from these.
	{
		by:   "network clients",
		dirs: ".ssh .gnupg .aws .azure .kube .docker .password-store .pip .gcloud",
		files: `
			.npmrc .yarnrc .yarnrc.y*ml .pypirc pip.conf pip.ini .netrc _netrc .curlrc _curlrc .wgetrc .gemrc .condarc .pgpass
			.psqlrc .my.cnf .sqliterc authorized_keys known_hosts .rhosts .forward .procmailrc .mailcap
		`,
	},
	// Interpreters and debuggers load these at their start.
	{
		by: "interpreters",
		files: `
			sitecustomize.py usercustomize.py *.pth .pythonrc* .irbrc .pryrc .rprofile .rbenv* .gdbinit .lldbinit .node_repl*
			.perltidyrc .ghci .iex.exs .babashka*
		`,
	},
	// People start builds without reading these first.
	{
		by:   "build tools",
		dirs: ".gradle .mvn .bazel",
		files: `
			makefile makefile.* gnumakefile bsdmakefile *.mk *.mak justfile .justfile *.just taskfile.y*ml taskfile.*.y*ml
			cmakelists.txt *.cmake cmakepresets.json cmakeuserpresets.json meson.build meson_options.txt build.ninja sconstruct
			sconscript wscript xmake.lua premake5.lua build.bazel workspace.bazel module.bazel *.bzl .bazelrc build.gradle*
			settings.gradle* init.gradle* gradle.properties gradlew* mvnw* pom.xml build.xml build.sbt *.csproj *.vbproj *.fsproj
			*.vcxproj directory.build.* *.targets *.props rakefile *.rake gruntfile.* gulpfile.* webpack.config.* vite.config.*
			rollup.config.* *.config.js *.config.cjs *.config.mjs *.config.ts .eslintrc* .babelrc* .prettierrc* earthfile tiltfile
			magefile.go build.zig configure configure.ac autogen.sh makefile.pl build.pl package.swift mix.exs rebar.config
			project.clj deps.edn setup.hs dangerfile fastfile podfile brewfile capfile guardfile vagrantfile procfile noxfile.py
			tox.ini tasks.py fabfile.py dodo.py snakefile
		`,
	},
	// Package managers run scripts of these at install, build and test.
	{
		by:   "package managers",
		dirs: ".cargo .rustup .yarn .bundle .m2",
		files: `
			package.json pnpm-workspace.yaml .pnpmfile.* deno.json* bunfig.toml setup.py setup.cfg pyproject.toml conftest.py
			pytest.ini build.rs cargo.toml rust-toolchain* composer.json gemfile *.gemspec go.work
		`,
	},
	// Continuous integration runs these with the rights and secrets of the
	// repository.
	{
		by:   "continuous integration",
		dirs: ".github .gitlab .circleci .buildkite .forgejo .gitea .woodpecker .teamcity .azure-pipelines .ci",
		files: `
			.gitlab-ci*.y*ml jenkinsfile* .travis.y*ml .drone.y*ml .woodpecker.y*ml .cirrus.y*ml .appveyor.y*ml appveyor.y*ml
			azure-pipelines*.y*ml bitbucket-pipelines.y*ml cloudbuild.y*ml buildspec.y*ml codemagic.y*ml .goreleaser.y*ml
		`,
	},
	// Containers, services, timers and sessions are started from these.
	{
		by: "containers and services",
		dirs: `
			systemd autostart launchagents launchdaemons cron.d cron.daily cron.hourly cron.weekly cron.monthly init.d
		`,
		files: `
			dockerfile dockerfile.* *.dockerfile containerfile containerfile.* docker-compose*.y*ml compose.y*ml compose.*.y*ml
			docker-bake.* *.service *.socket *.timer *.desktop crontab crontab.* *.crontab
		`,
	},
	// Agents take these for instructions, tools and permissions.
	{
		by: "agents",
		dirs: `
			.cursor .claude .codex .gemini .windsurf .continue .roo .kiro .opencode .goose .agents .clinerules .aider .junie
			.amazonq
		`,
		files: `
			claude.md claude.local.md agents.md agents.override.md agent.md gemini.md skill.md copilot-instructions.md
			.cursorrules .windsurfrules .clinerules .roorules* .roomodes .goosehints .aider* .mcp.json mcp.json opencode.json*
			crush.json .crush.json
		`,
	},
}

// ObeyedBy returns the programs that obey the file at a path, or anything below
// it, and "" if none is known. Names are compared as the most forgiving file
// system does: in any case and normal form, without invisible characters, and
// as Windows shortens them. In a name "*" may stand for any text, as in a shell
// pattern.
func ObeyedBy(p string) string {
	parts := strings.Split(path.Clean(strings.ReplaceAll(p, `\`, "/")), "/")
	for i, part := range parts {
		parts[i] = plainName(part)
	}
	for _, k := range obeyedKinds {
		if slices.ContainsFunc(parts, k.hasDir) || listed(k.files, parts[len(parts)-1]) {
			return k.by
		}
	}
	return ""
}

func (k obeyedKind) hasDir(name string) bool { return listed(k.dirs, name) }

// listed reports whether one of the listed names may match the given one.
func listed(names, given string) bool {
	return slices.ContainsFunc(strings.Fields(names), func(name string) bool { return meets(name, given) })
}

// meets reports whether a listed name may match the given one. A pattern that
// begins with a wildcard matches no name with a leading dot, and far too many
// others, so it never matches.
func meets(listed, given string) bool {
	switch strings.IndexByte(given, '*') {
	case -1:
		return listed == given || strings.Contains(listed, "*") && matched(listed, given)
	case 0, 1:
		return false
	default:
		return matched(given, strings.ReplaceAll(listed, "*", "x"))
	}
}

// matched reports whether a name matches a pattern.
func matched(pattern, name string) bool {
	ok, err := path.Match(pattern, name)
	return ok || err != nil // a malformed pattern may match any
}

// GuardObeyed returns the judgement on a call that also writes paths. If
// programs obey any of them, the call always needs approval, unless a standing
// answer names its subjects literally.
func GuardObeyed(j chela.Judgement, paths ...string) chela.Judgement {
	for _, p := range paths {
		if by := ObeyedBy(p); p != "" && by != "" {
			j.Act, j.Risk, j.Exact = chela.ActInstruct, fmt.Sprintf("it changes a file that programs run or obey: %s (%s)", Subject(p), by), true
			return j
		}
	}
	return j
}

// plainName returns a name in its form for comparison.
func plainName(name string) string {
	name, _, _ = strings.Cut(name, ":") // a stream of NTFS
	var b strings.Builder
	for _, r := range norm.NFKC.String(name) {
		if unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Variation_Selector, r) {
			continue // HFS+ ignores them
		}
		b.WriteRune(smallest(r))
	}
	name = b.String()
	if name != "." && name != ".." {
		name = strings.TrimRight(name, ". ") // Windows drops them
	}
	if long, ok := map[string]string{"git~1": ".git", "github~1": ".github"}[name]; ok {
		return long
	}
	return name
}

// smallest returns the representative of all letters that differ in case only.
func smallest(r rune) rune {
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		if 'a' <= f && f <= 'z' {
			return f
		}
	}
	return unicode.ToLower(r)
}

// refuseHidden returns an error if a name leads through a link to a file that
// programs obey: the approved name was a different one. It is Denied.
func (w *Workspace) refuseHidden(name string) error {
	if ObeyedBy(name) != "" {
		return nil
	}
	is := w.resolve(name)
	if by := ObeyedBy(is); by != "" {
		return chela.E(chela.Denied, fmt.Sprintf("%s leads to %s, which programs obey (%s)", w.Show(name), w.Show(is), by)).
			WithHint("write to it by its own path")
	}
	return nil
}

// maxLinks is how many links are followed, as on Linux.
const maxLinks = 40

// resolve returns the name of the same file with links in its folders resolved.
// A link out of the workspace is not followed further.
func (w *Workspace) resolve(name string) string {
	done, left := ".", strings.Split(name, "/")
	for links := 0; len(left) > 1; {
		next := path.Join(done, left[0])
		left = left[1:]
		target, err := w.root.Readlink(next)
		if err != nil { // no link
			done = next
			continue
		}
		if links++; links > maxLinks || path.IsAbs(target) {
			return path.Join(next, path.Join(left...))
		}
		left = append(strings.Split(path.Clean(target), "/"), left...)
	}
	return path.Join(done, left[0])
}
