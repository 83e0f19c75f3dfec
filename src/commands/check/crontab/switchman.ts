import { leasesToHold, type SwitchmanCall } from "../../../fleet/switchman-words.ts";
import { shellWord } from "../../shell-word.ts";

/** The same wish as a line of ours. */
export function asSignalbox(call: SwitchmanCall): string {
  const { lock, group, command } = call;
  const [file = ""] = command;
  const named = lock === file.slice(file.lastIndexOf("/") + 1) ? [] : ["--lock", lock ?? ""];
  const words = [
    ...["signalbox", "run", "-E", "0"],
    ...(lock === undefined ? ["--no-lock"] : named),
    ...(group === undefined ? [] : ["-g", group]),
    ...leasesToHold(call).flatMap((lease) => ["--lease", lease]),
    ...["--", ...command],
  ];
  return words.map(shellWord).join(" ");
}
