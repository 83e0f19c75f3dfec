import type { Subject } from "./view.ts";

/** The thing that a text like `lock invoices` names, as the audit and problems write it. */
export function aboutOf(text: string): { about?: Subject } {
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
