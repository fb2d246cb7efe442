package snapshot

import (
	"path"
	"strings"
)

// caches are names of folders that programs fill and can fill again.
var caches = map[string]bool{
	"node_modules": true, "bower_components": true, ".venv": true, "__pycache__": true, ".tox": true, ".nox": true, ".mypy_cache": true,
	".pytest_cache": true, ".ruff_cache": true, ".gradle": true, ".next": true, ".nuxt": true, ".parcel-cache": true, ".turbo": true,
	".terraform": true, ".direnv": true, ".cache": true,
}

// isCache reports whether a folder is left out by its name: a cache, the build
// output of Cargo, Maven or sbt, or the objects of Git.
func isCache(dir string, name string, siblings func(name string) bool) bool {
	switch {
	case caches[name]:
		return true
	case name == "target":
		return siblings("Cargo.toml") || siblings("pom.xml") || siblings("build.sbt")
	}
	return isObjects(join(dir, name))
}

// isObjects reports whether a folder holds the objects of a repository, or of one of
// its modules.
func isObjects(name string) bool {
	last := path.Base(name)
	if last != "objects" && last != "lfs" {
		return false
	}
	_, in, ok := strings.Cut("/"+path.Dir(name)+"/", "/.git/")
	return ok && (in == "" || strings.HasPrefix(in, "modules/") && !strings.Contains(in, "/refs/") && !strings.Contains(in, "/logs/"))
}

// inGit reports whether a folder is a .git or lies inside one.
func inGit(dir string) bool { return strings.Contains("/"+dir+"/", "/.git/") }

// isSetting reports whether a file is captured although rules ignore it: files
// of settings and keys are ignored to keep them out of commits, not because they
// can be made again.
func isSetting(name string) bool { return name == ".env" || strings.HasPrefix(name, ".env.") }
