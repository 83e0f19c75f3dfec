import type { QueueKind } from "../../protocol/keys.ts";
import { byClaim, type Place } from "../../protocol/ticket.ts";
import type { NamedQueue, Picture } from "../picture.ts";

/**
 * Tells what differs between two maps of things that never change themselves. What is the same object in both costs a look.
 * @param tell  told the name, what was there and what is there
 */
export function eachChange<T>(
  before: ReadonlyMap<string, T>,
  after: ReadonlyMap<string, T>,
  tell: (name: string, was: T | undefined, is: T | undefined) => void,
): void {
  if (before === after) return;
  let common = 0;
  for (const [name, is] of after) {
    const was = before.get(name);
    if (was !== undefined) common += 1;
    if (was !== is) tell(name, was, is);
  }
  if (common === before.size) return;
  for (const [name, was] of before) if (!after.has(name)) tell(name, was, undefined);
}

/** A ticket that came, changed or went. */
export interface TicketChange {
  kind: QueueKind;
  name: string;
  was: Place | undefined;
  is: Place | undefined;
  /** Places ahead of it now. */
  ahead: number;
}

/** Tickets that differ, by run, the lock's first. */
export function ticketChanges(
  before: Pick<Picture, "queues">,
  after: Pick<Picture, "queues">,
): Map<string, TicketChange[]> {
  const runs = new Map<string, TicketChange[]>();
  eachChange(before.queues, after.queues, (_, was, is) => {
    for (const change of inQueue(was, is)) {
      const run = (change.is ?? change.was)?.run ?? "";
      const known = runs.get(run);
      if (known === undefined) runs.set(run, [change]);
      else if (change.kind === "lock") known.unshift(change);
      else known.push(change);
    }
  });
  return runs;
}

/** Both are in the order of claims, so one walk along them finds everything, however long they are. */
function inQueue(before: NamedQueue | undefined, after: NamedQueue | undefined): TicketChange[] {
  const { kind, name } = after ?? before ?? { kind: "lock", name: "" };
  const [old, now] = [before?.places ?? [], after?.places ?? []];
  const found: TicketChange[] = [];
  let at = 0;
  for (let ahead = 0; at < old.length || ahead < now.length; ) {
    const [was, is] = [old[at], now[ahead]];
    const order = was === undefined ? 1 : is === undefined ? -1 : was.key === is.key ? 0 : byClaim(was, is);
    if (order < 0) found.push({ kind, name, was, is: undefined, ahead: 0 });
    else if (order > 0) found.push({ kind, name, was: undefined, is, ahead });
    else if (was !== is) found.push({ kind, name, was, is, ahead });
    if (order <= 0) at += 1;
    if (order >= 0) ahead += 1;
  }
  return found;
}
