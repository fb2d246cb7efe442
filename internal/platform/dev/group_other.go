//go:build !unix

package main

import "os/exec"

// group does nothing: the tests that start processes run on Unix only.
func group(*exec.Cmd) {}

// killGroup does nothing.
func killGroup(*exec.Cmd) error { return nil }
