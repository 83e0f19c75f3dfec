import type { OperatorPorts } from "./operator-action.ts";
import {
  type MutationOptions,
  type MutationResult,
  previewMutation,
  type ScheduleMutation,
} from "./schedule-mutation.ts";
import { applySite } from "./site.ts";
import type { PlannedChange } from "./stored-schedules.ts";

interface PartOptions extends Pick<MutationOptions, "reason" | "seen"> {
  /** Called after each transaction but the last. @param left  what is still to do */
  onPart?(left: readonly PlannedChange[]): void;
}

/**
 * Applies a mutation in as few transactions as etcd accepts, one after the other, each with guards and an audit record. When others
 * write so often that large ones fail, smaller ones follow. A schedule is written whole, and chains that change are in one transaction.
 * @returns all changes that were applied; `changed` if a definition is newer than `seen`, perhaps after some were
 * @throws the errors of `decide` and of `applySite`, perhaps after some were applied
 */
export async function applyInParts(
  ports: OperatorPorts,
  mutation: ScheduleMutation,
  { reason, seen, onPart }: PartOptions = {},
): Promise<MutationResult> {
  const done: PlannedChange[] = [];
  let rest = mutation;
  let left: readonly PlannedChange[] = [];
  const plan = async () => {
    const { changes, calendars, revision } = await previewMutation(ports, rest);
    left = changes;
    const unread = { schedules: new Map(), groups: new Map(), resources: new Map() };
    return { stored: { ...unread, calendars, revision }, config: [], calendars: [], schedules: changes };
  };
  for (;;) {
    const shown = await plan();
    const { revision } = shown.stored;
    const newer = left.filter(({ before }) => seen !== undefined && before.definitionMod > seen);
    if (newer.length > 0) return { kind: "changed", ids: newer.map(({ before }) => before.id), revision };
    if (left.length === 0)
      return done.length === 0 ? { kind: "nothing", revision } : { kind: "done", changes: done, revision };
    const result = await applySite(ports, {
      action: "schedule",
      target: mutation.target,
      reason,
      seen,
      shown,
      replan: plan,
      formatOutcome: ({ schedules }) => mutation.formatOutcome(schedules),
      onPart: ({ schedules }) => {
        const waiting = new Set(schedules);
        done.push(...left.filter((change) => !waiting.has(change)));
        left = schedules;
        onPart?.(left);
        rest = mutation.narrow?.(new Set(schedules.map(({ before }) => before.id))) ?? mutation;
      },
    });
    if (result.kind === "done")
      return { kind: "done", changes: [...done, ...left], revision: result.revision };
  }
}
