import type { Call, CommandIo } from "./spec.ts";

/** Creates a function that prints one line for the user on standard error, unless the call is quiet. */
export function createMessagePrinter(
  { verbosity }: Pick<Call, "verbosity">,
  io: Pick<CommandIo, "writeMessage">,
): (line: string) => void {
  return (line) => {
    if (verbosity >= 0) io.writeMessage(line);
  };
}
