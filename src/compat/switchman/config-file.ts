import { ConfigError } from "../../base/errors.ts";
import { clean } from "../../base/text.ts";
import type { ReadFile } from "../../config/files.ts";
import { readPlainFile } from "../plain-file.ts";
import { DEFAULT_CONFIG, parseConfig, type SwitchmanConfig } from "./config.ts";

/** Reads the file that was named, or the usual one. @throws ConfigError */
export function readConfig(named: string | undefined, read: ReadFile = readPlainFile): SwitchmanConfig {
  const path = named ?? DEFAULT_CONFIG;
  const text = textOf(path, read);
  if (text !== undefined) return parseConfig(path, text);
  throw new ConfigError(
    named === undefined
      ? `${DEFAULT_CONFIG} is absent and --config is missing, see: signalbox switchman --help`
      : `Failed to open <${clean(path)}>: it does not exist`,
  );
}

function textOf(path: string, read: ReadFile): string | undefined {
  try {
    return read(path)?.text;
  } catch (cause) {
    const { code = "unknown error" } = cause as NodeJS.ErrnoException;
    throw new ConfigError(`Failed to open <${clean(path)}>: ${code}`, { cause });
  }
}
