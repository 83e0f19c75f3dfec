import { briefDuration, formatInstant } from "../../base/duration.ts";
import { canonicalHost } from "../../fleet/groups.ts";
import { holds } from "../../protocol/admission.ts";
import type { QueueKind } from "../../protocol/keys.ts";
import type { Place } from "../../protocol/ticket.ts";
import { seenAgo } from "../alive.ts";
import { whoIs } from "../claims.ts";
import { livenessOf, type Pulses } from "../explain-text.ts";
import { drainLine } from "../foresight-text.ts";
import { type Picture, queueIn } from "../picture.ts";
import { queueRow } from "../queue-row.ts";
import { commandText } from "../tables/cells.ts";
import { sceneOf } from "../tables/scene.ts";
import { auditTable, type Detail, known, pastTable, someOf } from "./detail.ts";

/** A lock or resource: who has it, is that one alive, who waits, what was before. @param wall  ms since the epoch */
export function queueDetail(
  picture: Picture,
  kind: QueueKind,
  name: string,
  wall: number,
  pulses: Pulses,
): Detail {
  const places = queueIn(picture, kind, name)?.places ?? [];
  const row = queueRow({ kind, name, places }, sceneOf(picture, wall));
  const [first, ...others] = places.filter(holds);
  const kept = picture.resources.get(name);
  const isLock = kind === "lock";
  return {
    heading: `${kind} ${name}: ${row.state}${isLock ? "" : `, ${row.used} of ${row.total ?? "?"} units held`}`,
    facts: [
      ...(isLock && first !== undefined ? holderFacts(picture, first, wall, pulses) : []),
      ...known([
        ["total", isLock ? undefined : totalText(row.total, kept?.value?.total, kept?.fault)],
        ["note", isLock ? undefined : kept?.value?.note],
        ...row.drains.map((drain) => ["drain", drainLine(drain)] as const),
      ]),
    ],
    tables: [
      ...(isLock && others.length === 0 ? [] : holderTable(places.filter(holds), wall, pulses)),
      ...waiterTable(places, wall, pulses),
      ...pastTable(isLock ? (picture.histories.get(name) ?? []) : [], briefDuration),
      ...auditTable(picture.audit, (target) => target === `${kind} ${name}`),
    ],
  };
}

function totalText(
  total: number | undefined,
  configured: string | undefined,
  fault: string | undefined,
): string | undefined {
  if (fault !== undefined) return `configured, but ${fault}`;
  if (configured !== undefined) return `${configured}, configured`;
  return total === undefined ? undefined : `${total}, as its runs state it`;
}

/** Everything about the one run that holds a lock. */
export function holderFacts(picture: Picture, place: Place, wall: number, pulses: Pulses): Detail["facts"] {
  const { ticket, run, createRevision } = place;
  if (ticket === undefined) return [["ticket", `${place.key} cannot be read`]];
  const since = ticket.grantedAt ?? ticket.enqueuedAt;
  const seen = seenAgo(picture.hosts.get(canonicalHost(ticket.host)), wall);
  const { reset } = ticket;
  return known([
    [holds(place) ? "holder" : "waiter", `${whoIs(place)} (${commandText(ticket)}), user ${ticket.user}`],
    ["label", ticket.label],
    ["run", run],
    ["token", String(createRevision)],
    ["since", `${formatInstant(since)}, for ${briefDuration(wall - since)}`],
    [
      "waited",
      ticket.grantedAt === undefined ? undefined : briefDuration(ticket.grantedAt - ticket.enqueuedAt),
    ],
    [
      "grace",
      ticket.until === undefined ? undefined : `until ${formatInstant(ticket.until)}: its command has ended`,
    ],
    ["runner", livenessText(place, pulses)],
    [
      "host",
      `${ticket.host} was ${seen === undefined ? "never seen to start anything" : `seen ${briefDuration(seen)} ago`}`,
    ],
    [
      "reset",
      reset &&
        `asked for by ${reset.by}, ${briefDuration(wall - reset.at)} ago${reset.why === undefined ? "" : `: ${reset.why}`}`,
    ],
  ]);
}

function livenessText(place: Place, pulses: Pulses): string | undefined {
  if (place.session === 0n) return "on no session: nothing ends it but a reset by force";
  const alive = livenessOf(place, pulses);
  if (alive === undefined || place.ticket?.state === "grace") return undefined;
  const left = alive.left === undefined || alive.verdict === "quiet" ? "" : `, ${alive.left}s left`;
  return `${alive.verdict}: ${alive.text}${left}`;
}

function holderTable(holders: readonly Place[], wall: number, pulses: Pulses) {
  const rows = holders.map((place) => [
    ...[whoIs(place), String(place.ticket?.count ?? "?"), place.ticket?.state ?? "malformed"],
    ...[age(place, wall), commandText(place.ticket), livenessOf(place, pulses)?.verdict ?? "", place.run],
  ]);
  return someOf("holders", ["WHO", "UNITS", "STATE", "FOR", "COMMAND", "RUNNER", "RUN"], rows);
}

function waiterTable(places: readonly Place[], wall: number, pulses: Pulses) {
  const rows = places.flatMap((place, index) =>
    holds(place)
      ? []
      : [
          [
            ...[String(index + 1), whoIs(place), String(place.ticket?.count ?? "?")],
            ...[place.ticket?.state ?? "malformed", age(place, wall), commandText(place.ticket)],
            ...[livenessOf(place, pulses)?.verdict ?? "", place.run],
          ],
        ],
  );
  return someOf("queue", ["POS", "WHO", "UNITS", "STATE", "WAITS", "COMMAND", "RUNNER", "RUN"], rows);
}

function age({ ticket }: Place, wall: number): string {
  const since = ticket?.grantedAt ?? ticket?.enqueuedAt;
  return since === undefined ? "" : briefDuration(wall - since);
}
