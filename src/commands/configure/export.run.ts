import { readFileSync } from "node:fs";
import { EXIT } from "../../base/errors.ts";
import { clean } from "../../base/text.ts";
import { documentText } from "../../fleet/document.ts";
import { configurationOf, malformedIn } from "../../model/configuring/configuration.ts";
import { pictureOf } from "../look.ts";
import { withStore } from "../with-store.ts";
import { CONFIG_ROOMS } from "./configured.ts";
import { replaceWith } from "./write-file.ts";

export const execute = withStore(async ({ args, verbosity }, world, desk) => {
  const [file = "-"] = args;
  const picture = await pictureOf(desk, CONFIG_ROOMS);
  const text = documentText(configurationOf(picture), picture.revision);
  const note = (line: string) => verbosity >= 0 && world.err(`signalbox: note: ${clean(line)}\n`);
  for (const { kind, name, fault } of malformedIn(picture))
    note(`${kind} ${name} cannot be read and was left out: ${fault}`);
  if (file === "-") world.out(text);
  else if (saysTheSame(file, text)) note(`${file} says the same already`);
  else replaceWith(file, text);
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
