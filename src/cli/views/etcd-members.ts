import { formatBriefDuration, type WallTime } from "../../core/base/clock.ts";
import { formatBytes } from "../../core/base/size.ts";
import {
  type AnsweringStatus,
  type ClusterMember,
  findTopStatus,
  isLeader,
} from "../../core/protocol/member.ts";
import {
  countEntriesBehind,
  type EndpointStatus,
  type KnownMembers,
  MAX_LOG_LAG,
  NEARLY_FULL,
} from "../../site/state/etcd-findings.ts";
import type { Tone } from "../../site/state/subject.ts";
import {
  createNoteColumn,
  createNumberColumn,
  createRightColumn,
  createStateColumn,
  createTextColumn,
} from "./columns.ts";
import { countGraphValues, type Drawing, type DrawingSigns, drawGraph } from "./drawing.ts";
import {
  describeChoice,
  describeCount,
  describeNumber,
  describeObject,
  describeParts,
  describeRevision,
  describeText,
  describeTexts,
} from "./json.ts";
import type { TableColumn } from "./view.ts";

/** The states of a member, in the order in which they are shown. */
const MEMBER_STATES = [
  "leader",
  "follower",
  "learner",
  "leaderless",
  "hidden",
  "unreachable",
  "unasked",
] as const;
type MemberState = (typeof MEMBER_STATES)[number];

export interface MemberRow {
  state: MemberState;
  /** Undefined if the cluster does not list it, or if it is not known whose endpoint it is. */
  member: ClusterMember | undefined;
  /** Its endpoint, or its client URLs if no endpoint leads to it. */
  endpoint: string;
  status: AnsweringStatus | undefined;
  /** Log entries behind the leader, or behind the member with the most if the leader does not answer. */
  lag: number | undefined;
  version: string | undefined;
  /** In bytes. */
  quota: number | undefined;
  alarms: readonly string[];
  /** Why it did not answer, and other remarks; empty if there are none. */
  note: string;
}

/** Builds a row for each member, and for each endpoint that does not say whose it is. */
export function buildMemberRows({ roster, statuses, metrics }: KnownMembers): MemberRow[] {
  const listed = roster instanceof Error ? [] : roster;
  const answers = statuses.filter((status) => status.ok);
  const top = findTopStatus(answers);
  const alarms = parseAlarms(answers);
  const buildRow = (member: ClusterMember | undefined, status: EndpointStatus | undefined): MemberRow => {
    const answer = status?.ok ? status : undefined;
    const id = member?.id ?? answer?.memberId;
    const endpoint = status?.endpoint ?? member?.clientUrls.join(",") ?? "";
    return {
      state: judgeState(member, status),
      member,
      endpoint,
      status: answer,
      lag: answer && countEntriesBehind(answer, top),
      version: answer?.version ?? metrics.get(endpoint)?.version,
      quota: metrics.get(endpoint)?.quota,
      alarms: alarms.filter((alarm) => alarm.memberId === id).map(({ name }) => name),
      note: describeMember(member, status, top),
    };
  };
  const claimed = new Set<EndpointStatus>();
  const known = listed.map((member) => {
    const own = statuses.filter((status) =>
      status.ok ? status.memberId === member.id : member.clientUrls.includes(status.endpoint),
    );
    for (const status of own) claimed.add(status);
    return buildRow(member, own.find(({ ok }) => ok) ?? own[0]);
  });
  const rest = statuses.filter((status) => !claimed.has(status));
  const rows = [...known, ...rest.map((status) => buildRow(undefined, status))];
  return rows.sort((a, b) => MEMBER_STATES.indexOf(a.state) - MEMBER_STATES.indexOf(b.state));
}

/** How near the members are to their limits. */
export interface EtcdLoad {
  /** The fullest database and its quota, in bytes; undefined if no member publishes its quota. */
  database: { used: number; total: number } | undefined;
  /** Log entries that the last member is behind, in steps of 100: smaller differences mean nothing. */
  lag: number;
}

/** Measures the members that answer. */
export function measureEtcdLoad(known: KnownMembers): EtcdLoad {
  const rows = buildMemberRows(known);
  const databases = rows.flatMap(({ status, quota }) =>
    status === undefined || quota === undefined ? [] : [{ used: status.dbSize, total: quota }],
  );
  const [database] = databases.sort((a, b) => b.used / b.total - a.used / a.total);
  return { database, lag: Math.floor(Math.max(0, ...rows.map(({ lag = 0 }) => lag)) / 100) * 100 };
}

/** The rows of the members at an instant. */
export interface MemberReading {
  at: WallTime;
  rows: readonly MemberRow[];
}

/** Lines of the graph of a member with its title, and of the title and the blank line before it. */
const MEMBER_GRAPH_LINES = { least: 8, most: 17, title: 2 };

/** Draws the latency and the lag of each member in the last readings, as many members as fit. @param readings  oldest first */
export function drawMemberGraphs(
  readings: readonly MemberReading[],
  { width, height, signs }: { width: number; height: number; signs: DrawingSigns },
): Drawing {
  const { least, most, title } = MEMBER_GRAPH_LINES;
  const shown = readings.slice(-countGraphValues(width, signs));
  const [first, last] = [shown[0], shown.at(-1)];
  if (first === undefined || last === undefined || shown.length < 2) return [];
  const members = last.rows.slice(0, Math.floor(height / least));
  const lines = Math.min(most, Math.floor(height / members.length)) - title;
  const lagLines = Math.floor(lines / 3);
  return members.flatMap(({ endpoint, member }) => {
    const own = shown.map(({ rows }) => rows.find((row) => row.endpoint === endpoint));
    const delays = own.map((row) => row?.status?.millis ?? 0);
    const lags = own.map((row) => row?.lag ?? 0);
    return [
      [],
      [
        { text: (member?.name || endpoint).toUpperCase(), role: "heading" },
        { text: "  latency in ms", role: "accent" },
        { text: " above, ", role: "quiet" },
        { text: "lag", role: "waiting" },
        { text: ` below, last ${formatBriefDuration(last.at - first.at)}`, role: "quiet" },
      ],
      ...drawGraph(
        [delays, lags],
        { heights: [lines - lagLines, lagLines], tones: ["accent", "waiting"] },
        signs,
      ),
    ];
  });
}

/** The lag and the delay of an answer at which their bars are full. etcd warns of slower answers. */
export const FULL_BAR_LAG = MAX_LOG_LAG;
export const FULL_BAR_DELAY_MS = 100;

function judgeState(member: ClusterMember | undefined, status: EndpointStatus | undefined): MemberState {
  if (status === undefined) return "unasked";
  if (!status.ok) return status.error.kind === "permission" ? "hidden" : "unreachable";
  if (member?.isLearner) return "learner";
  if (status.leaderId === 0n) return "leaderless";
  return isLeader(status) ? "leader" : "follower";
}

/** An alarm as etcd formats it in the status of every member, for any of them. */
const ALARM = /^memberID:(\d+)\s+alarm:(\w+)\s*$/;

function parseAlarms(answers: readonly AnsweringStatus[]): { memberId: bigint; name: string }[] {
  const texts = new Set(answers.flatMap(({ errors }) => errors.map((error) => error.trim())));
  return [...texts].flatMap((text) => {
    const [, id, name] = ALARM.exec(text) ?? [];
    return id === undefined || name === undefined ? [] : [{ memberId: BigInt(id), name }];
  });
}

/** Returns the name of an alarm in the text that etcd gives; other texts as they are. */
export function shortenAlarm(text: string): string {
  return ALARM.exec(text)?.[2] ?? text;
}

function describeMember(
  member: ClusterMember | undefined,
  status: EndpointStatus | undefined,
  top: AnsweringStatus | undefined,
): string {
  if (status === undefined)
    return member?.clientUrls.length === 0
      ? "it has not joined the cluster yet"
      : "no endpoint is known to lead to it, so it was not asked";
  if (!status.ok) {
    const start = `${status.endpoint}: `;
    const { kind, message } = status.error;
    if (kind === "permission") return "only the user root may read its status";
    return message.startsWith(start) ? message.slice(start.length) : message;
  }
  const errors = status.errors.filter((error) => !ALARM.test(error.trim()));
  const isBehind = top !== undefined && status.raftTerm < top.raftTerm;
  return [...errors, ...(isBehind ? [`it is in an earlier term than ${top.endpoint}`] : [])].join("; ");
}

const TONES: Readonly<Record<MemberState, Tone>> = {
  leader: "held",
  follower: "held",
  learner: "waiting",
  leaderless: "problem",
  hidden: "quiet",
  unreachable: "problem",
  unasked: "quiet",
};

export const MEMBER_COLUMNS: readonly TableColumn<MemberRow>[] = [
  createTextColumn("name", 1, ({ member }) => member?.name),
  {
    ...createStateColumn<MemberRow, MemberState>(
      1,
      (state) => TONES[state],
      ({ state }) => state,
    ),
    getSortValue: ({ state }) => MEMBER_STATES.indexOf(state),
  },
  createTextColumn("endpoint", 3, ({ endpoint }) => endpoint),
  createTextColumn("version", 2, ({ version }) => version),
  createNumberColumn("term", 5, ({ status }) => status?.raftTerm),
  createNumberColumn("index", 5, ({ status }) => status?.raftIndex),
  createNumberColumn("lag", 2, ({ lag }) => lag, {
    getTone: ({ lag = 0 }) => (lag > MAX_LOG_LAG ? "problem" : "plain"),
    getShare: ({ lag }) => ({ used: lag ?? 0, total: FULL_BAR_LAG }),
  }),
  createBytesColumn("db", 2, ({ status }) => status?.dbSize, {
    getTone: ({ status, quota = Number.POSITIVE_INFINITY }) =>
      (status?.dbSize ?? 0) >= NEARLY_FULL * quota ? "problem" : "plain",
    getShare: ({ status, quota }) => ({ used: status?.dbSize ?? 0, total: quota }),
  }),
  createBytesColumn("inUse", 4, ({ status }) => status?.dbInUse, { title: "IN USE" }),
  createBytesColumn("quota", 4, ({ quota }) => quota),
  createRightColumn("latency", 3, ({ status }) => status && `${status.millis.toFixed(1)} ms`, {
    getSortValue: ({ status }) => status?.millis ?? Number.POSITIVE_INFINITY,
    getShare: ({ status }) => ({ used: status?.millis ?? 0, total: FULL_BAR_DELAY_MS }),
  }),
  createTextColumn("alarms", 1, ({ alarms }) => alarms.join(" "), { getTone: () => "problem" }),
  createTextColumn("id", 6, formatMemberId, { isRandom: true }),
  { ...createNoteColumn<MemberRow>(1, ({ note }) => note), below: "sentence" },
];

function createBytesColumn(
  id: string,
  priority: number,
  getBytes: (row: MemberRow) => number | undefined,
  more: Partial<TableColumn<MemberRow>> = {},
): TableColumn<MemberRow> {
  const formatCell = (row: MemberRow) => {
    const bytes = getBytes(row);
    return bytes === undefined ? "" : formatBytes(bytes);
  };
  return createNumberColumn(id, priority, getBytes, { formatCell, ...more });
}

/** Formats the id as etcd's log does. */
function formatMemberId({ member, status }: MemberRow): string {
  return (member?.id ?? status?.memberId)?.toString(16) ?? "";
}

export const MEMBER_JSON = describeObject<MemberRow>("etcdMember", "A member of etcd.", {
  "id?": describeText(
    "id of the member, hexadecimal as in etcd's log",
    (row) => formatMemberId(row) || undefined,
  ),
  "name?": describeText("name of the member", ({ member }) => member?.name),
  endpoint: describeText("endpoint that leads to it, or else its client URLs", "endpoint"),
  state: describeChoice(
    MEMBER_STATES,
    "state of the member. `leaderless`: it knows no leader; `hidden`: it answers, and only the user root may read its status; `unasked`: no endpoint is known to lead to it",
    "state",
  ),
  "version?": describeText("version of etcd", "version"),
  "raftTerm?": describeRevision("raft term of the member", ({ status }) => status?.raftTerm),
  "raftIndex?": describeRevision("its last raft entry", ({ status }) => status?.raftIndex),
  "lag?": describeCount(
    "number of raft entries that the leader has more; compared with the most advanced member if the leader does not answer",
    "lag",
  ),
  "dbSize?": describeCount("size of the database file, bytes", ({ status }) => status?.dbSize),
  "dbInUse?": describeCount(
    "bytes of the database in use; a defragmentation frees the rest",
    ({ status }) => status?.dbInUse,
  ),
  "quota?": describeCount("quota of the database, bytes, if the member publishes its metrics", "quota"),
  "latency?": describeNumber("time of the request for its status, ms", ({ status }) => status?.millis),
  alarms: describeTexts("alarms that this member has raised, such as `NOSPACE`", "alarms"),
  "note?": describeText("why it did not answer, or what is wrong", ({ note }) => note || undefined),
});

export const MEMBERS_JSON = describeObject<readonly MemberRow[]>(
  "etcd members",
  "The members of the cluster, and endpoints that do not say whose they are.",
  {
    "revision?": describeRevision("etcd revision, as the most advanced member knows it", findRevision),
    members: describeParts(MEMBER_JSON, "members, the leader first", (rows) => rows),
  },
);

function findRevision(rows: readonly MemberRow[]): bigint | undefined {
  const revisions = rows.flatMap(({ status }) => status?.revision ?? []);
  return revisions.sort((a, b) => (a < b ? 1 : -1))[0];
}
