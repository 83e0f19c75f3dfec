import { quoteShellWord } from "../../../base/shell.ts";
import { listLeasesToHold, type SwitchmanCall } from "../../../syntax/switchman-call.ts";

/** Formats a switchman call as the equivalent `signalbox run` line. */
export function toSignalboxLine(call: SwitchmanCall): string {
  const { lock, group, command } = call;
  const [file = ""] = command;
  const named = lock === file.slice(file.lastIndexOf("/") + 1) ? [] : ["--lock", lock ?? ""];
  const words = [
    "signalbox",
    "run",
    "-E",
    "0",
    ...(lock === undefined ? ["--no-lock"] : named),
    ...(group === undefined ? [] : ["-g", group]),
    ...listLeasesToHold(call).flatMap((lease) => ["--lease", lease]),
    "--",
    ...command,
  ];
  return words.map(quoteShellWord).join(" ");
}
