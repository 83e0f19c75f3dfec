import { chmodSync, readFileSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { EXIT, SignalboxError } from "../../base/errors.ts";
import { clean } from "../../base/text.ts";
import { documentText } from "../../fleet/document.ts";
import { configurationOf, malformedIn } from "../../model/configuring/configuration.ts";
import { pictureOf } from "../look.ts";
import { withStore } from "../with-store.ts";
import { CONFIG_ROOMS } from "./configured.ts";

export const execute = withStore(async ({ args, verbosity }, world, desk) => {
  const [file = "-"] = args;
  const picture = await pictureOf(desk, CONFIG_ROOMS);
  const text = documentText(configurationOf(picture), picture.revision);
  const note = (line: string) => verbosity >= 0 && world.err(`signalbox: note: ${clean(line)}\n`);
  for (const { kind, name, fault } of malformedIn(picture))
    note(`${kind} ${name} cannot be read and was left out: ${fault}`);
  if (file === "-") world.out(text);
  else if (saysTheSame(file, text)) note(`${file} says the same already`);
  else write(file, text);
  return EXIT.ok;
});

/** Whether a file differs in nothing but the revision at which it was true. */
function saysTheSame(file: string, text: string): boolean {
  const timeless = (one: string) => one.replace(/^ {2}"revision": "\d+",\n/m, "");
  try {
    return timeless(readFileSync(file, "utf8")) === timeless(text);
  } catch {
    return false;
  }
}

/** A pipe or a device is written to; a file is replaced. @throws SignalboxError 74 */
function write(file: string, text: string): void {
  const stat = statSync(file, { throwIfNoEntry: false });
  try {
    if (stat === undefined) replaceFile(file, text);
    else if (stat.isFile()) replaceFile(realpathSync(file), text, stat.mode & 0o777);
    else writeFileSync(file, text);
  } catch (cause) {
    throw new SignalboxError(EXIT.io, `nothing was written: ${(cause as Error).message}`, { cause });
  }
}

/** A reader finds the old text or the new one, never half of one. @param mode  default: what the umask leaves */
function replaceFile(file: string, text: string, mode?: number): void {
  const part = `${file}.${process.pid}.part`;
  try {
    writeFileSync(part, text, { flag: "wx", flush: true });
    if (mode !== undefined) chmodSync(part, mode);
    renameSync(part, file);
  } catch (error) {
    rmSync(part, { force: true });
    throw error;
  }
}
