import type { QueueKind } from "../../../src/core/protocol/keys.ts";
import type { Subject } from "../../../src/site/state/subject.ts";
import { runOf } from "./pictures.ts";

/**
 * The subject of a text: `lock x`, `drain host web1`, `drain all`, `run a of lock x` (named by a letter as in
 * pictures), `record 1 of lock x`, or `ended 1 of lock x` for a record of a run that has ended.
 */
export function subjectOf(text: string): Subject;
export function subjectOf(text: string | undefined): Subject | undefined;
export function subjectOf(text: string | undefined): Subject | undefined {
  if (text === undefined) return undefined;
  const [, kind = "", name = "", aboutText] = /^(\w+) (.*?)(?: of (.*))?$/s.exec(text) ?? [];
  const about = subjectOf(aboutText);
  switch (kind) {
    case "run": {
      const queue = about as { kind: QueueKind; name: string } | undefined;
      return { kind, name: /^\w$/.test(name) ? runOf(name) : name, ...(queue && { queue }) };
    }
    case "drain": {
      const [scope, target = ""] = name.split(" ");
      return { kind, scope, name: target } as Subject;
    }
    case "record":
    case "ended":
      return { kind: "record", name, ...(about && { about }), ...(kind === "ended" && { isEndedRun: true }) };
    default:
      return { kind, name } as Subject;
  }
}
