package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"chela"
	"chela/internal/api"
	"chela/internal/engine/transcript"
	"chela/internal/surface/cli/console"
)

func (c *commands) exporting() *cobra.Command {
	var how api.Export
	var thread, out string
	cmd := &cobra.Command{
		Use: "export KEY", Short: "Write the current thread of a session down, an entry a line", Args: console.Exactly(1),
		RunE: c.inHome(func(ctx context.Context, b *Backend, args []string) error {
			id, err := threadOf(ctx, b, chela.SessionKey(args[0]), chela.ThreadID(thread))
			if err != nil {
				return err
			}
			if out == "" {
				return b.Transcripts.Export(ctx, id, how, c.p.Out)
			}
			return writeFile(out, func(to io.Writer) error { return b.Transcripts.Export(ctx, id, how, to) })
		}),
	}
	cmd.Flags().StringVar(&thread, "thread", "", "another thread of the session")
	cmd.Flags().BoolVar(&how.All, "all", false, "also the branches that were left")
	cmd.Flags().BoolVar(&how.Compacted, "compacted", false, "what a prompt can hold, not the whole conversation")
	cmd.Flags().BoolVar(&how.Attachments, "with-attachments", false, "also the content of attachments")
	cmd.Flags().StringVarP(&out, "output", "o", "", "file to write to")
	return cmd
}

// threadOf returns the selected thread of a session: the current one by
// default.
func threadOf(ctx context.Context, b *Backend, key chela.SessionKey, id chela.ThreadID) (chela.ThreadID, error) {
	s, err := api.Call(ctx, b.API, api.SessionsShow, api.SessionRef{Key: key})
	if err != nil {
		return "", console.NotThere(err, "see chela sessions list")
	}
	if id == "" {
		return s.Thread, nil
	}
	t, err := api.Call(ctx, b.API, api.ThreadsShow, api.ThreadRef{ID: id})
	if err == nil && t.Session != key {
		err = chela.E(chela.Invalid, fmt.Sprintf("thread %s belongs to session %s", id, t.Session)).WithHint("name that session")
	}
	return id, console.NotThere(err, "see chela threads list --session "+string(key))
}

// writeFile writes a file atomically, readable by its owner only.
func writeFile(name string, write func(io.Writer) error) error {
	f, err := os.CreateTemp(filepath.Dir(name), ".chela-*")
	if err != nil {
		return unwritable(name, err)
	}
	defer os.Remove(f.Name()) // a no-op after success
	buffered := bufio.NewWriter(f)
	if err := write(buffered); err != nil {
		return errors.Join(err, f.Close())
	}
	if err := errors.Join(buffered.Flush(), f.Sync(), f.Close()); err != nil {
		return unwritable(name, err)
	}
	if err := os.Rename(f.Name(), name); err != nil {
		return unwritable(name, err)
	}
	return nil
}

func unwritable(name string, err error) error {
	return chela.E(chela.Unavailable, "cannot write "+name).WithHint("choose another file with -o").Because(err)
}

func (c *commands) importing() *cobra.Command {
	var session string
	cmd := &cobra.Command{
		Use: "import FILE", Short: `Make a transcript the current thread of a session; "-" reads it from the input`, Args: console.Exactly(1),
		RunE: c.inHome(func(ctx context.Context, b *Backend, args []string) error {
			return c.importFile(ctx, b, args[0], chela.SessionKey(session))
		}),
	}
	cmd.Flags().StringVar(&session, "session", "", "session key; without it the one that the transcript comes from, or the main one")
	return cmd
}

func (c *commands) importFile(ctx context.Context, b *Backend, name string, key chela.SessionKey) error {
	from := io.NopCloser(c.Stdin)
	if name != "-" {
		var err error
		if from, err = os.Open(name); err != nil {
			return chela.E(chela.NotFound, "cannot read "+name).WithHint("give the file that chela sessions export wrote").Because(err)
		}
	}
	defer from.Close() // it is only read
	text := bufio.NewReader(from)
	if key == "" {
		first, _ := text.Peek(text.Size()) // errors are reported when it is read
		if key = transcript.SessionOf(first); key == "" {
			key = chela.MainKey(chela.MainAgent)
		}
	}
	done, err := b.Transcripts.Import(ctx, key, text)
	if err != nil {
		return err
	}
	if c.p.JSON {
		return c.p.Document(done)
	}
	c.p.Fields(
		[2]string{"session", string(done.Session)}, [2]string{"thread", string(done.Thread)},
		[2]string{"added", fmt.Sprint(done.Added)}, [2]string{"known", fmt.Sprint(done.Known)},
	)
	return nil
}
