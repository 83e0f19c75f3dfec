import { declareCommand } from "../command.ts";

export const completion = declareCommand({
  id: "completion",
  topic: "Check",
  brief: "print a script for your shell that completes commands, flags and names",
  about: [
    "To install the script for all shells, write it to the file shown below. For the current shell only: `source <(signalbox completion bash)`," +
      " also in zsh, or `signalbox completion fish | source`.",
    "Names of locks, resources, groups, hosts, runs and drains are read from etcd while you type, within 300 ms. Errors are not" +
      " printed. SIGNALBOX_COMPLETION_TIMEOUT=1s allows more time. The usual settings apply;" +
      " --endpoints, --prefix and similar flags on the line are used.",
    "Names with invisible characters are not offered. Other names are quoted, so that the shell never executes them.",
  ],
  args: { SHELL: { choices: ["bash", "zsh", "fish"], help: "bash, zsh or fish" } },
  settings: [],
  examples: {
    "signalbox completion bash > /etc/bash_completion.d/signalbox": "for every user, with bash-completion",
    "signalbox completion zsh > /usr/local/share/zsh/site-functions/_signalbox": "for zsh",
    "signalbox completion fish > ~/.config/fish/completions/signalbox.fish": "for fish",
  },
  load: () => import("./completion.impl.ts"),
});
