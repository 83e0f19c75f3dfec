import type { Subject } from "./view.ts";

/** Parses a text such as `lock invoices`, as used in audit records and problems. */
export function parseSubject(text: string): { about?: Subject } {
  const [, kind, name = ""] = /^(lock|resource|host|group|run|schedule) (.+)$/s.exec(text) ?? [];
  switch (kind) {
    case "lock":
    case "resource":
    case "host":
    case "group":
    case "run":
    case "schedule":
      return { about: { kind, name } };
    default:
      return {};
  }
}
