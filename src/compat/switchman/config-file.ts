import { ConfigError } from "../../base/errors.ts";
import { clean } from "../../base/text.ts";
import type { FileReader } from "../../config/files.ts";
import { readPlainFile } from "../plain-file.ts";
import { DEFAULT_CONFIG, parseSwitchmanConfig, type SwitchmanConfig } from "./config.ts";

/** Reads the named file, or the default one. @throws ConfigError */
export function readSwitchmanConfig(
  named: string | undefined,
  read: FileReader = readPlainFile,
): SwitchmanConfig {
  const path = named ?? DEFAULT_CONFIG;
  const text = readConfigText(path, read);
  if (text !== undefined) return parseSwitchmanConfig(path, text);
  throw new ConfigError(
    named === undefined
      ? `${DEFAULT_CONFIG} is absent and --config is missing, see: signalbox switchman --help`
      : `Failed to open <${clean(path)}>: it does not exist`,
  );
}

function readConfigText(path: string, read: FileReader): string | undefined {
  try {
    return read(path)?.text;
  } catch (cause) {
    const { code = "unknown error" } = cause as NodeJS.ErrnoException;
    throw new ConfigError(`Failed to open <${clean(path)}>: ${code}`, { cause });
  }
}
