package main

import "golang.org/x/sys/unix"

const iopl = unix.SYS_IOPL
