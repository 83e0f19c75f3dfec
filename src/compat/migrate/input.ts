import { readFileSync, statSync } from "node:fs";
import { describeFileError, EXIT, SignalboxError, UsageError } from "../../base/errors.ts";
import { quoteText } from "../../base/text.ts";
import { getListFlag } from "../../commands/command-line/flags.ts";
import type { Call, CommandIo } from "../../commands/spec.ts";
import { HostFiles } from "./host-files.ts";

/** Reads a crontab. @param path  `-` for standard input @throws SignalboxError 74 if it cannot be read as text */
export async function readCrontabText(path: string, world: CommandIo): Promise<string> {
  if (path === "-") return checkText("standard input", await world.readInput());
  return checkText(quoteText(path), readTextFile(path));
}

/** Checks that a text is valid UTF-8 without zero bytes, because every byte must be written back unchanged. */
function checkText(what: string, text: string): string {
  const at = text.indexOf("\ufffd");
  if (at >= 0) {
    const line = text.slice(0, at).split("\n").length;
    throw new SignalboxError(
      EXIT.io,
      `${what}, line ${line}: it is not UTF-8; convert it first, such as with iconv -f latin1 -t utf-8`,
    );
  }
  if (text.includes("\0"))
    throw new SignalboxError(EXIT.io, `${what} is not a text file: it contains zero bytes`);
  return text;
}

function readTextFile(path: string): string {
  try {
    const stat = statSync(path);
    if (stat.isCharacterDevice() || stat.isBlockDevice()) throw new Error("it is a device");
    return readFileSync(path, "utf8");
  } catch (cause) {
    throw new SignalboxError(EXIT.io, `${quoteText(path)} cannot be read: ${describeFileError(cause)}`, {
      cause,
    });
  }
}

/**
 * Reads the configuration files of the tools: the named ones, otherwise those of this host. @throws UsageError,
 * SignalboxError 74
 */
export function readToolFiles(call: Call): HostFiles {
  const files = new HostFiles();
  for (const path of getListFlag(call, "tool-config")) {
    const text = readTextFile(path);
    const place = /^\s*\{/.test(text) ? "/etc/switchman.conf" : "/etc/cronlock.conf";
    if (files.namedPaths.has(place))
      throw new UsageError(`--tool-config ${quoteText(path)}: a file for ${place} is given already`);
    files.addNamed(place, text, path);
  }
  return files;
}
