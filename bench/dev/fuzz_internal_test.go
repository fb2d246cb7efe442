package main

import (
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

func TestFind(t *testing.T) {
	t.Parallel()
	module := fstest.MapFS{
		"key_test.go":   {Data: []byte("package a\nfunc FuzzKey(f *testing.F) {}\nfunc TestKey(t *testing.T) {}\nfunc FuzzPart(f *testing.F) {}")},
		"b/b_test.go":   {Data: []byte("package b\n// func FuzzNot(f *testing.F)\nfunc FuzzB(f *testing.F) {}")},
		"b/b.go":        {Data: []byte("package b\nfunc FuzzNot(f *testing.F) {}")},
		"b/b_text.json": {},
	}
	got, err := find(module)
	if err != nil {
		t.Fatal(err)
	}
	want := []target{{"b", "FuzzB"}, {".", "FuzzKey"}, {".", "FuzzPart"}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(target{})); diff != "" {
		t.Errorf("targets (-want +got):\n%s", diff)
	}
}
