import type { Command } from "../spec.ts";

export const completion: Command = {
  id: "completion",
  topic: "Check",
  brief: "print a script that completes commands, flags and names in your shell",
  about: [
    "Names of locks, resources, groups, hosts and runs are asked of etcd while you type: within 300 ms, and in silence when" +
      " it is away.",
  ],
  args: [{ name: "SHELL", choices: ["bash", "zsh", "fish"], help: "bash, zsh or fish" }],
  examples: [
    ["signalbox completion bash > /etc/bash_completion.d/signalbox", "for every user, with bash-completion"],
    ["signalbox completion zsh > /usr/local/share/zsh/site-functions/_signalbox", "for zsh"],
    ["signalbox completion fish > ~/.config/fish/completions/signalbox.fish", "for fish"],
  ],
  load: () => import("./completion.run.ts"),
};
