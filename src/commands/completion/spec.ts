import type { Command } from "../spec.ts";

export const completion: Command = {
  id: "completion",
  topic: "Check",
  brief: "print a script that completes commands, flags and names in your shell",
  about: [
    "Written where the shell looks for it, as below, it is for every shell; for one only: `source <(signalbox completion bash)`," +
      " which zsh takes as well, or `signalbox completion fish | source`.",
    "Names of locks, resources, groups, hosts, runs and drains are asked of etcd while you type: within 300 ms, and in silence" +
      " when it is away or refuses. SIGNALBOX_COMPLETION_TIMEOUT=1s gives it more time. Settings are those that hold anyway;" +
      " --endpoints, --prefix and the like on the line are heeded.",
    "Names that hold invisible characters are not offered; others are put in quoted, so that the shell never executes any.",
  ],
  args: [{ name: "SHELL", choices: ["bash", "zsh", "fish"], help: "bash, zsh or fish" }],
  examples: [
    ["signalbox completion bash > /etc/bash_completion.d/signalbox", "for every user, with bash-completion"],
    ["signalbox completion zsh > /usr/local/share/zsh/site-functions/_signalbox", "for zsh"],
    ["signalbox completion fish > ~/.config/fish/completions/signalbox.fish", "for fish"],
  ],
  load: () => import("./completion.impl.ts"),
};
