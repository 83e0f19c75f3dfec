import { readFileSync, statSync } from "node:fs";
import { EXIT, SignalboxError, UsageError } from "../../base/errors.ts";
import { quoted } from "../../base/text.ts";
import { listFlag } from "../../commands/flags.ts";
import type { Call, Surroundings } from "../../commands/spec.ts";
import { HostFiles } from "./host-files.ts";

/** A crontab's text. @param path  `-` for standard input @throws SignalboxError 74 where it cannot be read as text */
export async function crontabText(path: string, world: Surroundings): Promise<string> {
  if (path === "-") return checked("standard input", await world.input());
  return checked(quoted(path), textOf(path));
}

/** Every byte must come out again: a text that is not UTF-8 would not. */
function checked(what: string, text: string): string {
  const at = text.indexOf("\ufffd");
  if (at >= 0) {
    const line = text.slice(0, at).split("\n").length;
    throw new SignalboxError(
      EXIT.io,
      `${what}, line ${line}: it is not UTF-8; convert it first, such as with iconv -f latin1 -t utf-8`,
    );
  }
  if (text.includes("\0")) throw new SignalboxError(EXIT.io, `${what} is no text: it holds zero bytes`);
  return text;
}

function textOf(path: string): string {
  try {
    const stat = statSync(path);
    if (stat.isCharacterDevice() || stat.isBlockDevice()) throw new Error("it is a device");
    return readFileSync(path, "utf8");
  } catch (cause) {
    throw new SignalboxError(EXIT.io, `${quoted(path)} cannot be read: ${(cause as Error).message}`, {
      cause,
    });
  }
}

/** Configuration files of the tools: those that were named, otherwise this host's own. @throws UsageError, SignalboxError 74 */
export function toolFiles(call: Call): HostFiles {
  const files = new HostFiles();
  for (const path of listFlag(call, "tool-config")) {
    const text = textOf(path);
    const place = /^\s*\{/.test(text) ? "/etc/switchman.conf" : "/etc/cronlock.conf";
    if (files.named.has(place))
      throw new UsageError(`--tool-config ${quoted(path)}: there is one for ${place} already`);
    files.name(place, text, path);
  }
  return files;
}
