import { useState } from "react";
import { cleanToWidth } from "../../base/display-width.ts";
import { formatBriefDuration } from "../../base/duration.ts";
import { readMembers } from "../../commands/etcd/cluster.impl.ts";
import { wrapProseLines } from "../../commands/see/detail.ts";
import { buildGridSpans } from "../../commands/see/grid.ts";
import { readSessions } from "../../observe/etcd-sessions.ts";
import { buildMemberRows, MEMBER_COLUMNS } from "../../views/etcd-members.ts";
import { buildSessionRows, SESSION_COLUMNS, type SessionRow } from "../../views/etcd-sessions.ts";
import { buildPermissionRows, PERMISSION_COLUMNS, USER_COLUMNS } from "../../views/etcd-users.ts";
import type { TableColumn } from "../../views/view.ts";
import type { ConsoleApp } from "../console-app.ts";
import type { RepeatedRead } from "../data/outcome-reader.ts";
import { createRow, type RowModel } from "../theme/Row.tsx";
import { openKeyBrowser } from "./KeyBrowser.tsx";
import { type ListLine, ScreenList, useOverlay, useRepeatedRead } from "./OverlayFrame.tsx";
import { TextView } from "./output.tsx";
import { RawKeys } from "./RawKeys.tsx";

/** Time between two reads, ms. */
const MEMBERS_PAUSE = 3_000;
const SESSIONS_PAUSE = 5_000;
/** Sessions that are read: each takes some requests. */
const MOST_SESSIONS = 50;
/** An answer that is this much late is said to be, ms. */
const LATE = 2_000;

/** Shows the cluster itself: members, sessions and users, and the way to all keys. */
export function openEtcd(app: ConsoleApp): void {
  app.overlays.open(<Etcd />);
}

function Etcd() {
  const { app, room } = useOverlay();
  const [place] = useState({ at: 0, id: undefined });
  const { context } = app;
  const members = useRepeatedRead((signal) => readMemberRows(app, signal), MEMBERS_PAUSE);
  const sessions = useRepeatedRead((signal) => readSessions(context, MOST_SESSIONS, signal), SESSIONS_PAUSE);
  // Once only: etcd logs a warning for each read.
  const users = useRepeatedRead((signal) => context.store.readUsers(signal));
  const width = room.width - 2;
  const rows = buildSessionRows(context.keys, sessions.value?.sessions ?? []);
  const count = sessions.value?.count ?? 0;
  const { users: names = [], roles = [], isEnabled } = users.value ?? {};
  const access = isEnabled ? "authentication is on" : "authentication is off: everybody may do everything";
  const lines: ListLine[] = [
    buildTitle("MEMBERS", members, members.value?.summary),
    ...buildTable(app, MEMBER_COLUMNS, members.value?.rows ?? [], width, {
      getId: ({ member, endpoint }) => `member ${member?.id ?? endpoint}`,
      open: (row) =>
        openText(app, `member ${row.member?.name || row.endpoint}`, listFacts(MEMBER_COLUMNS, row)),
    }),
    { cells: [] },
    buildTitle(
      "SESSIONS",
      sessions,
      count > rows.length ? `the first ${rows.length} of ${count}` : String(count),
    ),
    ...buildTable(app, SESSION_COLUMNS, rows, width, {
      getId: ({ id }) => `session ${id}`,
      open: (row) => openSessionKeys(app, row),
    }),
    { cells: [] },
    buildTitle("USERS", users, access),
    ...buildTable(app, USER_COLUMNS, names, width, {
      getId: ({ name }) => `user ${name}`,
      open: ({ name, roles: own }) => {
        const permissions = buildPermissionRows(roles.filter((role) => own.includes(role.name)));
        openTable(app, `user ${name}`, PERMISSION_COLUMNS, permissions);
      },
    }),
  ];
  return (
    <ScreenList
      title={app.liveView.past === undefined ? "etcd" : "etcd now, not in the past"}
      lines={lines}
      place={place}
      keys={{ b: () => openKeyBrowser(app) }}
      hints={[["b", "browse keys"]]}
    />
  );
}

/** Reads the members, and what is known of the whole cluster, as a text. */
async function readMemberRows({ context }: ConsoleApp, signal: AbortSignal) {
  const reading = await readMembers(context, signal);
  const rows = buildMemberRows(reading);
  const present = rows.filter(({ state }) => state !== "unreachable" && state !== "unasked");
  const [revision] = rows.flatMap(({ status }) => status?.revision ?? []);
  const [compacted] = [...reading.metrics.values()].flatMap((one) => one.compacted ?? []);
  const facts = [
    `${present.length}/${rows.length}`,
    ...(revision === undefined ? [] : [`revision ${revision}`]),
    ...(compacted === undefined ? [] : [`compacted up to ${compacted}`]),
  ];
  return { rows, summary: facts.join(", ") };
}

/** Builds the title of a part, with what is wrong with its data. */
function buildTitle(title: string, reader: RepeatedRead<unknown>, summary: string | undefined): ListLine {
  const { fault, value, delay } = reader;
  const notes = [
    ...(value === undefined ? [] : [summary ?? ""]),
    ...(fault === undefined ? [] : [`cannot be read: ${fault}`]),
    ...(fault === undefined && delay > LATE ? [`no answer for ${formatBriefDuration(delay)}`] : []),
  ];
  const isBad = fault !== undefined || delay > LATE;
  return {
    cells: [
      { text: `${title}  `, role: "heading" },
      { text: cleanToWidth(notes.join("; "), 200), role: isBad ? "problem" : "quiet" },
    ],
  };
}

interface TableActions<R> {
  getId(row: R): string;
  open(row: R): void;
}

function buildTable<R>(
  app: ConsoleApp,
  columns: readonly TableColumn<R>[],
  rows: readonly R[],
  width: number,
  { getId, open }: TableActions<R>,
): ListLine[] {
  if (rows.length === 0) return [];
  const { head, rows: lines } = buildGridSpans({ columns, rows, wall: 0 }, app.theme.createLook(width));
  const indent = { text: "  " };
  const blocks = rows.flatMap((row, at): ListLine[] => {
    const [first = [], ...below] = lines[at] ?? [];
    const main = { cells: [indent, ...first], id: getId(row), open: () => open(row) };
    return [main, ...below.map((spans) => ({ cells: [indent, ...spans] }))];
  });
  return [{ cells: [indent, ...head] }, ...blocks];
}

function openSessionKeys(app: ConsoleApp, { id, keys, fault }: SessionRow): void {
  if (keys.length === 0) return app.showToast(fault ?? "this session has no keys");
  const ranges = keys.map((key) => ({ key }));
  app.overlays.open(<RawKeys title={`session ${id.toString(16)}`} ranges={ranges} />);
}

function listFacts<R>(columns: readonly TableColumn<R>[], row: R): string[] {
  return columns.flatMap(({ title, formatCell }) => {
    const text = formatCell(row, 0);
    return text === "" ? [] : [`${title.toLowerCase().padEnd(10)} ${text}`];
  });
}

function openText(app: ConsoleApp, title: string, lines: readonly string[]): void {
  const buildRows = (width: number) =>
    wrapProseLines(lines, app.theme.createLook(width)).map((line) => createRow(line));
  app.overlays.open(<TextView title={title} buildRows={buildRows} />);
}

function openTable<R>(
  app: ConsoleApp,
  title: string,
  columns: readonly TableColumn<R>[],
  rows: readonly R[],
): void {
  const buildRows = (width: number): RowModel[] => {
    const { head, rows: lines } = buildGridSpans({ columns, rows, wall: 0 }, app.theme.createLook(width));
    return [head, ...lines.flat()].map((cells) => ({ cells }));
  };
  app.overlays.open(<TextView title={title} buildRows={buildRows} />);
}
