package datadir

import (
	"errors"
	"syscall"
)

func isReadOnly(err error) bool { return errors.Is(err, syscall.EROFS) }

func isFull(err error) bool { return errors.Is(err, syscall.ENOSPC) }

func isNotDir(err error) bool { return errors.Is(err, syscall.ENOTDIR) }
