/** Receives a signal for the command. */
type Send = (name: NodeJS.Signals) => void;

/**
 * Passes on the signals of a terminal that end nothing, from the start of a command on. The command is not in the process
 * group that the terminal signals. SIGTSTP stops this process too, as its shell expects.
 * @param ignored  signals that the caller ignores
 * @returns a function that ends it
 */
export function passTerminalSignals(send: Send, ignored: readonly NodeJS.Signals[]): () => void {
  const stop = () => {
    send("SIGTSTP");
    process.off("SIGTSTP", stop);
    process.kill(process.pid, "SIGTSTP"); // no effect in a process group without a shell that could continue it
    process.on("SIGTSTP", stop);
    send("SIGCONT");
  };
  const all = [
    ["SIGTSTP", stop],
    ["SIGCONT", send],
    ["SIGWINCH", send],
  ] as const;
  const passed = all.filter(([name]) => !ignored.includes(name));
  for (const [name, listener] of passed) process.on(name, listener);
  return () => {
    for (const [name, listener] of passed) process.off(name, listener);
  };
}
