import { briefDuration } from "../../base/duration.ts";
import { shellWord } from "../../base/shell.ts";
import { holds } from "../../protocol/admission.ts";
import type { QueueKind } from "../../protocol/keys.ts";
import type { Place } from "../../protocol/ticket.ts";
import { whoIs } from "../claims.ts";
import { livenessOf, type Pulses } from "../explain-text.ts";
import { plainTotal } from "../foresee.ts";
import { drainLine } from "../foresight-text.ts";
import { type Picture, queueIn } from "../picture.ts";
import { type QueueRow, queueRow } from "../queue-row.ts";
import { commandText, stateTone } from "../tables/cells.ts";
import { sceneOf } from "../tables/scene.ts";
import { drainsOn } from "../tables/stopped.ts";
import type { Scene } from "../tables/view.ts";
import {
  type Around,
  auditTable,
  type Cell,
  type Detail,
  type DetailColumn,
  known,
  pastTable,
  recordsAbout,
  type Section,
  tableOf,
  whoCell,
} from "./detail.ts";
import { ticketFacts } from "./ticket.ts";

/** A lock or resource: who has it, is that one alive, who waits, what was before. */
export function queueDetail(picture: Picture, kind: QueueKind, name: string, around: Around): Detail {
  const { wall, pulses } = around;
  const places = queueIn(picture, kind, name)?.places ?? [];
  const scene = sceneOf(picture, wall);
  const row = queueRow({ kind, name, places }, scene);
  const [first, ...others] = places.filter(holds);
  const isLock = kind === "lock";
  return {
    heading: `${kind} ${name}: ${stateText(row)}`,
    tone: stateTone(row.state),
    facts: [
      ...(isLock && first !== undefined ? ticketFacts(first, around) : []),
      ...(isLock ? [] : resourceFacts(picture, name, row, places)),
      ...known(row.drains.map((drain) => ["drain", drainLine(drain), "problem"])),
    ],
    sections: [
      ...(isLock && others.length === 0 ? [] : holderTable(places.filter(holds), wall, pulses)),
      ...waiterTable(row, places, around, scene),
      ...pastTable(name, isLock ? (picture.histories.get(name) ?? []) : []),
      ...(isLock && places.length === 0 ? runAgain(name, picture) : []),
      ...auditTable(recordsAbout(picture.audit, (target) => target === `${kind} ${name}`)),
    ],
  };
}

/** How the last run of a lock is started again, as far as is known: of commands only the base name is kept. */
export function runAgain(lock: string, picture: Pick<Picture, "histories">): Section[] {
  const [last] = picture.histories.get(lock) ?? [];
  if (last === undefined) return [];
  const line = `signalbox run --lock ${shellWord(lock)} -- ${shellWord(last.command)}`;
  return [
    { kind: "lines", title: `run it again, on ${last.host} (its arguments are not kept)`, lines: [line] },
  ];
}

function stateText({ kind, state, used, total, drains }: QueueRow): string {
  const also = drains.length > 0 && state !== "drained" ? ", drained" : "";
  return `${state}${also}${kind === "lock" ? "" : `, ${used} of ${total ?? "?"} units held`}`;
}

function resourceFacts(picture: Picture, name: string, { total }: QueueRow, places: readonly Place[]) {
  const { value, fault } = picture.resources.get(name) ?? {};
  return known([
    ["total", totalText(total, value?.total, fault), fault === undefined ? "plain" : "problem"],
    ["order", value?.order === undefined ? undefined : String(value.order)],
    ["note", value?.note],
    ["totals differ", disagreement(places, plainTotal(picture, name)), "problem"],
  ]);
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

/** Which runs count with another total than others, or than operators set; undefined where all agree. */
function disagreement(places: readonly Place[], configured: number | undefined): string | undefined {
  const byTotal = new Map<number, string[]>();
  for (const place of places) {
    const { total } = place.ticket ?? {};
    if (total !== undefined) byTotal.set(total, [...(byTotal.get(total) ?? []), whoIs(place)]);
  }
  const totals = [...byTotal].sort(([a], [b]) => a - b);
  const odd = totals.filter(([total]) => total !== configured);
  if (configured === undefined ? totals.length < 2 : odd.length === 0) return undefined;
  const texts = odd.map(
    ([total, who]) =>
      `${total} by ${who.slice(0, 2).join(", ")}${who.length > 2 ? ` and ${who.length - 2} more` : ""}`,
  );
  return texts.join("; ");
}

function holderTable(holders: readonly Place[], wall: number, pulses: Pulses) {
  const columns: DetailColumn[] = [
    { title: "WHO", priority: 1 },
    { title: "UNITS", priority: 1, align: "right" },
    { title: "STATE", priority: 2, isMarked: true },
    { title: "FOR", priority: 2, align: "right" },
    { title: "RUNNER", priority: 2 },
    { title: "COMMAND", priority: 5 },
    { title: "RUN", priority: 3 },
  ];
  const rows = holders.map((place) => [
    ...[whoCell(whoIs(place)), { text: String(place.ticket?.count ?? "?") }, stateCell(place)],
    ...[{ text: age(place, wall) }, runnerCell(place, pulses)],
    ...[{ text: commandText(place.ticket) }, { text: place.run }],
  ]);
  return tableOf("holders", columns, rows);
}

function waiterTable(row: QueueRow, places: readonly Place[], { wall, pulses }: Around, scene: Scene) {
  const { kind, name } = row;
  const columns: DetailColumn[] = [
    { title: "PLACE", priority: 1, align: "right" },
    { title: "WHO", priority: 1 },
    { title: "UNITS", priority: kind === "lock" ? 8 : 1, align: "right" },
    { title: "STATE", priority: 1, isMarked: true },
    { title: "WAITS", priority: 2, align: "right" },
    { title: "RUNNER", priority: 2 },
    { title: "COMMAND", priority: 5 },
    { title: "RUN", priority: 3 },
    { title: "NOTE", priority: 2 },
  ];
  const rows = places.flatMap((place, index): Cell[][] => {
    if (holds(place)) return [];
    const units = kind === "lock" ? "" : String(place.ticket?.count ?? "?");
    return [
      [
        ...[{ text: String(index + 1) }, whoCell(whoIs(place)), { text: units }, stateCell(place)],
        ...[{ text: age(place, wall) }, runnerCell(place, pulses)],
        ...[{ text: commandText(place.ticket) }, { text: place.run }],
        noteCell(place, row, scene),
      ],
    ];
  });
  return tableOf("queue", columns, rows, { all: `signalbox ls queues --filter ${shellWord(name)}` });
}

/** What is odd about a waiter: unreadable, asked to end, stopped by a drain of its host or group; else its label. */
function noteCell({ ticket, key }: Place, { kind, name, drains }: QueueRow, scene: Scene): Cell {
  if (ticket === undefined) return { text: `key ${key}`, tone: "problem" };
  if (ticket.reset !== undefined) return { text: `asked to end by ${ticket.reset.by}`, tone: "problem" };
  const [drain] = drainsOn({ host: ticket.host, queues: [{ kind, name }] }, scene).filter(
    (one) => !drains.includes(one),
  );
  return drain === undefined ? { text: ticket.label ?? "" } : { text: drainLine(drain), tone: "problem" };
}

function stateCell({ ticket }: Place): Cell {
  const state = ticket?.state ?? "malformed";
  return { text: state, tone: stateTone(state) };
}

/** How a runner is. The command of one in grace has ended: nobody need renew for it. */
export function runnerCell(place: Place, pulses: Pulses): Cell {
  const alive = place.ticket?.state === "grace" ? undefined : livenessOf(place, pulses);
  const isFine = alive === undefined || alive.verdict === "alive";
  return { text: alive?.verdict ?? "", tone: isFine ? "plain" : "problem" };
}

function age({ ticket }: Place, wall: number): string {
  const since = ticket?.grantedAt ?? ticket?.enqueuedAt;
  return since === undefined ? "" : briefDuration(wall - since);
}
