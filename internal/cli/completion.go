package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"chela"
	"chela/internal/channel/terminal"
)

// completionCommand prints what makes a shell complete chela's commands.
func completionCommand() *cobra.Command {
	shells := []string{"bash", "zsh", "fish", "powershell"}
	return &cobra.Command{
		Use: "completion " + strings.Join(shells, "|"), Short: "Print what makes a shell complete commands",
		Long: "Print what makes a shell complete commands. For bash, put this into ~/.bashrc:\n\n" +
			"  source <(chela completion bash)\n\n" +
			"For zsh the same with zsh in ~/.zshrc, after compinit; for fish:\n\n" +
			"  chela completion fish > ~/.config/fish/completions/chela.fish",
		Args: exactly(1), ValidArgs: shells,
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
				return chela.E(chela.Invalid, "no completion for "+terminal.OneLine(args[0], 40)).
					WithHint("use one of " + strings.Join(shells, ", "))
			}
		},
	}
}
