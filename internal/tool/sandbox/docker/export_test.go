package docker

import "io"

// Hang ends the connection to a worker without telling the engine to end it.
func Hang(conn io.ReadWriteCloser) { conn.(*jobWorker).attached.Close() }
