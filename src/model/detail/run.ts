import { type Claim, isHolder } from "../claims.ts";
import { explain } from "../explain.ts";
import { explanationLines, type Pulses } from "../explain-text.ts";
import type { Picture } from "../picture.ts";
import { stateTone } from "../tables/cells.ts";
import { claimState, tokenOf } from "../tables/runs.ts";
import {
  type Around,
  auditTable,
  type Cell,
  type Detail,
  type DetailColumn,
  known,
  recordsAbout,
  type Section,
  tableOf,
  whoCell,
} from "./detail.ts";
import { runnerCell } from "./queue.ts";
import { ticketFacts } from "./ticket.ts";

/** A run: everything it holds or waits for, and why it waits. */
export function runDetail(picture: Picture, claim: Claim, around: Around): Detail {
  const { wall, pulses } = around;
  const stand = claim.stands.find(({ place }) => place.ticket !== undefined) ?? claim.stands[0];
  const own = stand === undefined ? [] : ticketFacts(stand.place, around);
  const lines = isHolder(claim) ? [] : explanationLines(explain(picture, claim, wall), wall, pulses);
  return {
    heading: `run ${claim.run}: ${claimState(claim)}`,
    tone: stateTone(claimState(claim)),
    facts: [
      ...own.filter(({ label }) => label !== "run" && label !== "token"),
      ...known([["token", String(tokenOf(claim))]]),
    ],
    sections: [
      ...(lines.length === 0 ? [] : [{ kind: "lines", title: "why", lines } as const]),
      ...ticketTable(claim),
      ...auditTable(recordsAbout(picture.audit, (target) => target === `run ${claim.run}`)),
    ],
  };
}

function ticketTable({ stands }: Claim): Section[] {
  const rows = stands.map(({ queue: { kind, name, places }, place }): Cell[] => {
    const state = place.ticket?.state ?? "malformed";
    return [
      ...[
        { text: kind },
        { text: name },
        { text: kind === "lock" ? "" : String(place.ticket?.count ?? "?") },
      ],
      { text: state, tone: stateTone(state) },
      ...[{ text: `${places.indexOf(place) + 1} of ${places.length}` }, { text: place.key }],
    ];
  });
  return tableOf(
    "tickets",
    [
      { title: "KIND", priority: 1 },
      { title: "NAME", priority: 1 },
      { title: "UNITS", priority: 2, align: "right" },
      { title: "STATE", priority: 1, isMarked: true },
      { title: "PLACE", priority: 2 },
      { title: "KEY", priority: 5 },
    ],
    rows,
  );
}

/** What a table of runs leaves out, and where all of them are. */
interface ClaimTable {
  /** They are all on one host, which need not be repeated. */
  isOneHost?: true;
  all?: string;
}

/** Runs of a host or a group, as a table. Those that hold come first; else in the order of claims. */
export function claimTable(
  claims: readonly Claim[],
  pulses: Pulses,
  { isOneHost, all }: ClaimTable = {},
): Section[] {
  const rank = (claim: Claim) => (isHolder(claim) ? 0 : 1);
  const sorted = [...claims].sort((a, b) => rank(a) - rank(b) || (tokenOf(a) < tokenOf(b) ? -1 : 1));
  const columns: DetailColumn[] = [
    { title: "RUN", priority: 3 },
    ...(isOneHost ? [] : [{ title: "HOST", priority: 1 }]),
    { title: "PID", priority: 2, align: "right" },
    { title: "STATE", priority: 1, isMarked: true },
    { title: "RUNNER", priority: 3 },
    { title: "HOLDS OR WAITS FOR", priority: 1 },
  ];
  const rows = sorted.map((claim) => claimCells(claim, pulses).filter((_, at) => !(isOneHost && at === 1)));
  return tableOf("runs", columns, rows, all === undefined ? {} : { all });
}

function claimCells(claim: Claim, pulses: Pulses): Cell[] {
  const { place } = claim.stands.find((stand) => stand.place.ticket !== undefined) ?? {};
  const state = claimState(claim);
  return [
    ...[{ text: claim.run }, whoCell(place?.ticket?.host ?? ""), { text: String(place?.ticket?.pid ?? "") }],
    { text: state, tone: stateTone(state) },
    place === undefined ? { text: "" } : runnerCell(place, pulses),
    { text: claim.stands.map(standText).join(" ") },
  ];
}

function standText({ queue: { kind, name }, place: { ticket } }: Claim["stands"][number]): string {
  return kind === "lock" ? name : `${name}=${ticket?.count ?? "?"}`;
}
