package main

import (
	"fmt"
	"net"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// dial connects to each address, sends a request, in which "|" ends a line, and
// prints the answer.
func dial(network string) func(args []string) {
	return func(args []string) {
		request := args[len(args)-1]
		for _, address := range args[:len(args)-1] {
			c, err := net.DialTimeout(network, address, time.Second)
			fmt.Printf("tried %s: %v\n", address, err)
			if err != nil {
				continue
			}
			_ = c.SetDeadline(time.Now().Add(time.Second))
			_, err = fmt.Fprint(c, strings.ReplaceAll(request, "|", "\r\n"))
			b := make([]byte, 2048)
			n, _ := c.Read(b)
			fmt.Printf("sent: %v, answer: %q\n", err, b[:n])
			c.Close()
		}
	}
}

// receiveRights takes a descriptor from a server on a local socket and reads it.
func receiveRights(args []string) {
	for _, name := range args {
		fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
		if err == nil {
			err = unix.Connect(fd, &unix.SockaddrUnix{Name: name})
		}
		fmt.Printf("tried %s: %v\n", name, err)
		if err != nil {
			continue
		}
		b, oob := make([]byte, 64), make([]byte, 256)
		_ = unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Sec: 1})
		_, n, _, _, err := unix.Recvmsg(fd, b, oob, 0)
		fmt.Printf("received: %v\n", err)
		messages, _ := unix.ParseSocketControlMessage(oob[:max(n, 0)])
		for _, m := range messages {
			rights, _ := unix.ParseUnixRights(&m)
			for _, r := range rights {
				read("received descriptor", r)
			}
		}
	}
}

// sockets opens sockets that reach beyond a network of its own, and sends with
// those of the kernel's configuration.
func sockets([]string) {
	for name, s := range map[string][3]int{
		"packet": {unix.AF_PACKET, unix.SOCK_RAW, 0x300}, "raw": {unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_ICMP},
		"bluetooth": {unix.AF_BLUETOOTH, unix.SOCK_RAW, 1}, "alg": {unix.AF_ALG, unix.SOCK_SEQPACKET, 0}, "key": {unix.AF_KEY, unix.SOCK_RAW, 2},
		"xdp": {unix.AF_XDP, unix.SOCK_RAW, 0}, "tipc": {unix.AF_TIPC, unix.SOCK_SEQPACKET, 0}, "rds": {unix.AF_RDS, unix.SOCK_SEQPACKET, 0},
	} {
		_, err := unix.Socket(s[0], s[1], s[2])
		tried("socket "+name, err)
	}
	fd, err := unix.Socket(unix.AF_VSOCK, unix.SOCK_STREAM, 0)
	if err == nil {
		err = unix.Connect(fd, &unix.SockaddrVM{CID: unix.VMADDR_CID_HOST, Port: 1})
		if err != nil && err != unix.ENODEV && err != unix.EADDRNOTAVAIL {
			fmt.Println("escaped: vsock was asked:", err)
		}
	}
	fmt.Println("tried vsock:", err)
}

// packet sends a datagram to a server without a route, as an Ethernet frame of the
// loopback interface would.
func packet(args []string) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_RAW)
	fmt.Println("tried a raw socket:", err)
	if err != nil {
		return
	}
	var port int
	_, _ = fmt.Sscanf(args[0], "127.0.0.1:%d", &port)
	b := []byte{0x45, 0, 0, 32, 0, 0, 0, 0, 64, 17, 0, 0, 127, 0, 0, 1, 127, 0, 0, 1, 0x30, 0x39, byte(port >> 8), byte(port), 0, 12, 0, 0, 'r', 'a', 'w', '!'}
	fmt.Println("sent:", unix.Sendto(fd, b, 0, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}))
}

// listen serves a text for some time.
func listen(args []string) {
	l, err := net.Listen("tcp", args[0])
	fmt.Println("tried to listen:", err)
	if err != nil {
		return
	}
	go func() {
		time.Sleep(time.Duration(number(args[2])) * time.Millisecond)
		l.Close()
	}()
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		fmt.Fprintln(c, args[1])
		c.Close()
	}
}
