package terminal

import (
	"strings"

	"github.com/spf13/cobra"

	"chela"
)

// CompletionCommand prints the completion script of a shell.
func CompletionCommand() *cobra.Command {
	shells := []string{"bash", "zsh", "fish", "powershell"}
	return &cobra.Command{
		Use: "completion " + strings.Join(shells, "|"), Short: "Print the completion script of a shell",
		Long: "Print the completion script of a shell.\n\n" +
			"bash, in ~/.bashrc:                 source <(chela completion bash)\n" +
			"zsh, in ~/.zshrc, after compinit:   source <(chela completion zsh)\n" +
			"fish, once:   chela completion fish > ~/.config/fish/completions/chela.fish",
		Args: Between(1, 1), ValidArgs: shells,
		RunE: func(cmd *cobra.Command, args []string) error {
			root, out := cmd.Root(), cmd.OutOrStdout()
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(out, true)
			case "zsh":
				return root.GenZshCompletion(out)
			case "fish":
				return root.GenFishCompletion(out, true)
			case "powershell":
				return root.GenPowerShellCompletionWithDesc(out)
			default:
				what := "no completion for " + OneLine(args[0], 40)
				return chela.E(chela.Invalid, what).WithHint("use one of " + strings.Join(shells, ", "))
			}
		},
	}
}
