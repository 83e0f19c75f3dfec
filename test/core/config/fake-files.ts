import { SignalboxError } from "../../../src/core/base/errors.ts";
import { type ConfigInput, resolveConfig } from "../../../src/core/config/config.ts";
import type { FileReader } from "../../../src/core/config/files.ts";

export const SYSTEM = "/etc/signalbox/config.json";
export const USER = "/home/op/.config/signalbox/config.json";

/** Files by path: a text, or settings to be written as JSON; they belong to root and nobody else can read them. */
export function fakeFiles(files: Record<string, unknown>, mode = 0o600, uid = 0): FileReader {
  return (path) => {
    const content = files[path];
    if (content === undefined) return undefined;
    return { text: typeof content === "string" ? content : JSON.stringify(content), mode, uid };
  };
}

/** The configuration of the user `op` with these files. */
export function resolved(input: ConfigInput, files: Record<string, unknown> = {}, mode?: number) {
  const env = { HOME: "/home/op", ...input.env };
  return resolveConfig({ ...input, env, readFile: fakeFiles(files, mode) });
}

/** What is wrong with it. */
export function failure(...given: Parameters<typeof resolved>): SignalboxError {
  try {
    resolved(...given);
  } catch (error) {
    if (error instanceof SignalboxError) return error;
    throw error;
  }
  throw new Error("nothing was wrong");
}
