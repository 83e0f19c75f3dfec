import type { Snapshot } from "../../../model/snapshot/snapshot.ts";
import type { Subject } from "../../../model/views/view.ts";
import type { Keys } from "../../../protocol/keys.ts";
import type { RangeOp } from "../../../protocol/txn.ts";

/**
 * Lists the keys of a subject: those that say most about it first.
 * @param snapshot  the queues in which the tickets of a run are searched
 */
export function listSubjectRanges(
  keys: Keys,
  subject: Subject,
  snapshot: Pick<Snapshot, "queues">,
): readonly RangeOp[] {
  switch (subject.kind) {
    case "lock":
    case "resource": {
      const { kind, name } = subject;
      const own = kind === "lock" ? [] : [{ key: keys.resourceConfig(name) }];
      const rest = [{ key: keys.drain(kind, name) }, { key: keys.history(name) }];
      const sort = { by: "create", order: "ascend" } as const; // the order of the queue
      return [
        ...own,
        { ...keys.getQueueRange(kind, name), sort },
        ...(kind === "lock" ? rest : rest.slice(0, 1)),
      ];
    }
    case "run":
      return listRunKeys(keys, subject.name, snapshot).map((key) => ({ key }));
    case "host":
      return [{ key: keys.host(subject.name) }, { key: keys.drain("host", subject.name) }];
    case "group":
      return [{ key: keys.group(subject.name) }, { key: keys.drain("group", subject.name) }];
    case "schedule":
      return [
        ...[keys.schedule, keys.due, keys.running, keys.outcomes].map((build) => ({
          key: build(subject.name),
        })),
        keys.getOccurrenceRange(subject.name),
      ];
    case "drain":
      return [{ key: keys.drain(subject.scope, subject.name || "all") }];
    case "record":
      return subject.about === undefined ? [] : listSubjectRanges(keys, subject.about, snapshot);
  }
}

function listRunKeys(keys: Keys, run: string, { queues }: Pick<Snapshot, "queues">): string[] {
  return [...queues.values()].flatMap(({ kind, name, entries }) =>
    entries.some((entry) => entry.run === run) ? [keys[kind](name, run)] : [],
  );
}
