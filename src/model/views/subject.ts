import type { Subject } from "./view.ts";

/** Parses a text such as `lock invoices`, as used in audit records and problems. */
export function parseSubject(text: string): { about?: Subject } {
  const [, kind, name = ""] = /^(lock|resource|host|group|run|schedule) (.+)$/s.exec(text) ?? [];
  return kind === undefined ? {} : { about: { kind, name } as Subject };
}
