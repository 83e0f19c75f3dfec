import type { Command, CommandIo } from "../../../src/cli/frame/command.ts";

/** The surroundings of a command without a terminal, and what the command writes there. */
export function createIo(env: Record<string, string> = {}, input = "") {
  const written = { out: "", err: "" };
  const io: CommandIo = {
    env,
    writeOutput: (text) => {
      written.out += text;
      return true;
    },
    writeError: (text) => {
      written.err += text;
    },
    writeMessage: (line) => {
      written.err += `signalbox: ${line}\n`;
    },
    onSignal: () => () => {},
    readInput: async () => input,
    terminal: { isOutput: () => false } as CommandIo["terminal"],
  };
  return { io, written };
}

/** A command with a flag of every kind. */
export const everyKind: Command = {
  id: "every kind",
  topic: "Run",
  brief: "has a flag of every kind",
  args: [
    { name: "FIRST", help: "the first" },
    { name: "MORE", isOptional: true, isRest: true, help: "what is left" },
  ],
  flags: [
    { name: "name", short: "n", value: "NAME", help: "takes a value" },
    { name: "lease", short: "l", value: "LEASE", isRepeatable: true, help: "takes several" },
    { name: "wait", value: "DURATION", isOptional: true, help: "may take a value" },
    { name: "json", short: "j", help: "a switch" },
    { name: "all", short: "a", help: "another switch" },
  ],
  settings: ["endpoints", "ttl", "busyExitCode", "history", "killLeftovers"],
  examples: [],
  load: () => Promise.reject(new Error("nobody runs this")),
};

/** A command that runs one. */
export const runs: Command = { ...everyKind, id: "runs", args: [], takesCommand: true };
