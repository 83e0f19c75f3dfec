import type { FileReader } from "../../src/config/files.ts";

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
