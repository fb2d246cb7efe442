//go:build unix

package engine_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"unsafe"

	"modernc.org/libc"
	sqlitelib "modernc.org/sqlite/lib"
)

// The functions of SQLite's interface to the system that a shim replaces: see
// sqlite3_vfs and sqlite3_io_methods in https://sqlite.org/vfs.html. Addresses
// are those of the translated C code.
type (
	openFunc     = func(tls *libc.TLS, vfs, name, file uintptr, flags int32, out uintptr) int32
	deleteFunc   = func(tls *libc.TLS, vfs, name uintptr, syncFolder int32) int32
	closeFunc    = func(tls *libc.TLS, file uintptr) int32
	writeFunc    = func(tls *libc.TLS, file, bytes uintptr, n int32, at int64) int32
	truncateFunc = func(tls *libc.TLS, file uintptr, size int64) int32
	syncFunc     = func(tls *libc.TLS, file uintptr, flags int32) int32
	folderFunc   = func(tls *libc.TLS, name, fd uintptr) int32
	getCallFunc  = func(tls *libc.TLS, vfs, name uintptr) uintptr
	setCallFunc  = func(tls *libc.TLS, vfs, name, call uintptr) int32
)

// address returns what C takes for a Go function, which must stay reachable
// from Go.
func address[F any](fn F) uintptr { return *(*uintptr)(unsafe.Pointer(&fn)) }

// function returns the Go function at an address of C.
func function[F any](at uintptr) F { return *(*F)(unsafe.Pointer(&at)) }

// at returns the value at an address of C.
func at[T any](address uintptr) *T { return *(**T)(unsafe.Pointer(&address)) }

// place returns the address of a copy of v in memory of C, where it stays.
func place[T any](tls *libc.TLS, v T) uintptr {
	p := libc.Xmalloc(tls, libc.Tsize_t(unsafe.Sizeof(v)))
	*at[T](p) = v
	return p
}

// A shim stands between SQLite and the files of one folder, and tells a disk
// what becomes of them. The index of the log (-shm) passes it by: SQLite trusts
// none that it did not make since it began.
type shim struct {
	disk *disk
	dir  string

	below  uintptr                // what the system offers, a sqlite3_vfs
	calls  sqlitelib.Tsqlite3_vfs // of below
	kept   []any                  // what C has the address of
	tables map[uintptr]uintptr    // of methods, by the one below; guarded by mu

	mu      sync.Mutex
	open    map[uintptr]*opened // by address; guarded by mu
	folders map[string]bool     // paths of files whose folder is being synced; guarded by mu
}

// An opened file is one that SQLite has open.
type opened struct {
	file  *file
	path  string
	below *sqlitelib.Tsqlite3_io_methods
}

// newShim makes every database that the process opens until t ends use a shim,
// which watches those in dir.
func newShim(t *testing.T, dir string) *shim {
	t.Helper()
	tls := libc.NewTLS()
	s := &shim{
		disk: newDisk(), dir: dir, below: sqlitelib.Xsqlite3_vfs_find(tls, 0),
		tables: map[uintptr]uintptr{}, open: map[uintptr]*opened{}, folders: map[string]bool{},
	}
	s.calls = *at[sqlitelib.Tsqlite3_vfs](s.below)
	vfs := s.calls
	vfs.FzName = cString(t, "shim")
	vfs.FxOpen = give(s, s.xOpen)
	vfs.FxDelete = give(s, s.xDelete)
	s.watchFolders(t, tls)
	registered := place(tls, vfs)
	if rc := sqlitelib.Xsqlite3_vfs_register(tls, registered, 1); rc != sqlitelib.SQLITE_OK {
		t.Fatalf("register: code %d", rc)
	}
	t.Cleanup(func() {
		sqlitelib.Xsqlite3_vfs_unregister(tls, registered)
		runtime.KeepAlive(s) // what C calls lives as long as C may call it
	})
	return s
}

func cString(t *testing.T, text string) uintptr {
	t.Helper()
	p, err := libc.CString(text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// give returns the address of a function that a shim keeps reachable.
func give[F any](s *shim, fn F) uintptr {
	s.kept = append(s.kept, fn)
	return address(fn)
}

// watchFolders replaces the call by which SQLite opens a folder, which it does
// only to sync it: once after it made a journal or a log, and where it must
// know that a name is gone.
func (s *shim) watchFolders(t *testing.T, tls *libc.TLS) {
	t.Helper()
	name := cString(t, "openDirectory")
	call := function[folderFunc](function[getCallFunc](s.calls.FxGetSystemCall)(tls, s.below, name))
	watch := func(tls *libc.TLS, name, fd uintptr) int32 {
		s.mu.Lock()
		s.folders[libc.GoString(name)] = true
		s.mu.Unlock()
		return call(tls, name, fd)
	}
	if rc := function[setCallFunc](s.calls.FxSetSystemCall)(tls, s.below, name, give(s, watch)); rc != sqlitelib.SQLITE_OK {
		t.Fatalf("watch folders: code %d", rc)
	}
	t.Cleanup(func() { function[setCallFunc](s.calls.FxSetSystemCall)(tls, s.below, name, 0) })
}

// folderSynced tells the disk if the call that has ended synced the folder.
func (s *shim) folderSynced(path string) {
	s.mu.Lock()
	synced := s.folders[path]
	delete(s.folders, path)
	s.mu.Unlock()
	if synced {
		s.disk.syncNames()
	}
}

func (s *shim) xOpen(tls *libc.TLS, _, name, file uintptr, flags int32, out uintptr) int32 {
	path := ""
	if name != 0 {
		path = libc.GoString(name)
	}
	var content []byte
	if filepath.Dir(path) == s.dir {
		var err error
		if content, err = os.ReadFile(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return sqlitelib.SQLITE_CANTOPEN
		}
	}
	rc := function[openFunc](s.calls.FxOpen)(tls, s.below, name, file, flags, out)
	if rc != sqlitelib.SQLITE_OK || filepath.Dir(path) != s.dir {
		return rc
	}
	base := at[sqlitelib.Tsqlite3_file](file)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open[file] = &opened{s.disk.open(filepath.Base(path), content), path, at[sqlitelib.Tsqlite3_io_methods](base.FpMethods)}
	base.FpMethods = s.table(tls, base.FpMethods)
	return rc
}

// table returns the methods of a watched file, for those of the system. The
// caller holds mu.
func (s *shim) table(tls *libc.TLS, below uintptr) uintptr {
	if known := s.tables[below]; known != 0 {
		return known
	}
	methods := *at[sqlitelib.Tsqlite3_io_methods](below)
	methods.FxClose = give(s, s.xClose)
	methods.FxWrite = give(s, s.xWrite)
	methods.FxTruncate = give(s, s.xTruncate)
	methods.FxSync = give(s, s.xSync)
	s.tables[below] = place(tls, methods)
	return s.tables[below]
}

func (s *shim) opened(file uintptr) *opened {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open[file]
}

func (s *shim) xDelete(tls *libc.TLS, _, name uintptr, syncFolder int32) int32 {
	rc := function[deleteFunc](s.calls.FxDelete)(tls, s.below, name, syncFolder)
	if path := libc.GoString(name); rc == sqlitelib.SQLITE_OK && filepath.Dir(path) == s.dir {
		s.disk.remove(filepath.Base(path))
		s.folderSynced(path)
	}
	return rc
}

func (s *shim) xClose(tls *libc.TLS, file uintptr) int32 {
	o := s.opened(file)
	s.mu.Lock()
	delete(s.open, file)
	s.mu.Unlock()
	return function[closeFunc](o.below.FxClose)(tls, file)
}

func (s *shim) xWrite(tls *libc.TLS, file, bytes uintptr, n int32, offset int64) int32 {
	o := s.opened(file)
	rc := function[writeFunc](o.below.FxWrite)(tls, file, bytes, n, offset)
	if rc == sqlitelib.SQLITE_OK {
		s.disk.write(o.file, edit{offset, append([]byte{}, unsafe.Slice(at[byte](bytes), n)...)})
	}
	return rc
}

func (s *shim) xTruncate(tls *libc.TLS, file uintptr, size int64) int32 {
	o := s.opened(file)
	rc := function[truncateFunc](o.below.FxTruncate)(tls, file, size)
	if rc == sqlitelib.SQLITE_OK {
		s.disk.write(o.file, edit{at: size})
	}
	return rc
}

func (s *shim) xSync(tls *libc.TLS, file uintptr, flags int32) (rc int32) {
	o := s.opened(file)
	s.disk.sync(o.file, func() { rc = function[syncFunc](o.below.FxSync)(tls, file, flags) })
	s.folderSynced(o.path)
	return rc
}
