import { readMembers } from "../../cli/commands/etcd/cluster.impl.ts";
import type { CommandContext } from "../../cli/frame/store-command.ts";
import { buildMemberRows, type MemberReading } from "../../cli/views/etcd-members.ts";
import { buildSessionRows } from "../../cli/views/etcd-sessions.ts";
import { buildUserRows } from "../../cli/views/etcd-users.ts";
import type { EtcdViewId } from "../../cli/views/index.ts";
import { formatBriefDuration } from "../../core/base/clock.ts";
import { collectTexts } from "../../core/base/text.ts";
import { readSessions } from "../../site/observe/etcd-cluster.ts";
import { isEtcdTab, type TabId } from "../state/console-state.ts";
import type { OutsideRows } from "./console-table.ts";
import { RepeatedRead } from "./outcome-reader.ts";

/** Rows and their summary. */
interface EtcdReading {
  rows: readonly object[];
  summary: string;
  /** Set for the members. */
  members?: MemberReading;
}

/** Readings of the members that are kept: a quarter of an hour. */
const MOST_READINGS = 300;

interface EtcdRead {
  /** Time between two reads, ms; undefined: once. */
  pause?: number;
  read(context: CommandContext, signal: AbortSignal): Promise<EtcdReading>;
}

/** Maximum number of sessions that are read: each takes several requests. */
const MOST_SESSIONS = 50;

const READS: Readonly<Record<EtcdViewId, EtcdRead>> = {
  members: { pause: 3_000, read: readMemberRows },
  sessions: {
    pause: 5_000,
    async read(context, signal) {
      const { count, sessions } = await readSessions(context, MOST_SESSIONS, signal);
      const rows = buildSessionRows(context.keys, sessions);
      return { rows, summary: count > rows.length ? `the first ${rows.length} of ${count}` : String(count) };
    },
  },
  users: {
    // Once only: etcd logs a warning for each read.
    async read({ store }, signal) {
      const directory = await store.readUsers(signal);
      const summary = directory.isEnabled
        ? "authentication is on"
        : "authentication is off: every client may do everything";
      return { rows: buildUserRows(directory), summary };
    },
  },
};

async function readMemberRows(context: CommandContext, signal: AbortSignal): Promise<EtcdReading> {
  const reading = await readMembers(context, signal);
  const rows = buildMemberRows(reading);
  const present = rows.filter(({ state }) => state !== "unreachable" && state !== "unasked");
  const [revision] = rows.flatMap(({ status }) => status?.revision ?? []);
  const [compacted] = [...reading.metrics.values()].flatMap((one) => one.compacted ?? []);
  const facts = [
    `${present.length}/${rows.length}`,
    revision !== undefined && `revision ${revision}`,
    compacted !== undefined && `compacted up to ${compacted}`,
  ];
  const members = { at: context.clock.getWallTime(), rows };
  return { rows, summary: collectTexts(facts).join(", "), members };
}

/** Minimum delay of an answer that is shown, ms. */
const MIN_SHOWN_DELAY_MS = 2_000;
const NO_ROWS: readonly object[] = [];

/** Reads the rows of the tabs about etcd itself while one of them is shown. Never throws: faults are shown. */
export class EtcdReader {
  readonly #context: CommandContext;
  readonly #onChange: () => void;
  #tab: TabId | undefined;
  #reader: RepeatedRead<EtcdReading> | undefined;
  /** The last readings of the members, since their tab is shown, oldest first. */
  memberReadings: readonly MemberReading[] = [];

  constructor(context: CommandContext, onChange: () => void) {
    this.#context = context;
    this.#onChange = onChange;
  }

  /** Starts to read for a tab. Reads nothing for tabs that are not about etcd. */
  show(tab: TabId | undefined): void {
    if (tab === this.#tab) return;
    this.#tab = tab;
    this.#reader?.end();
    this.#reader = undefined;
    this.memberReadings = [];
    if (tab === undefined || !isEtcdTab(tab)) return;
    const { pause, read } = READS[tab];
    this.#reader = new RepeatedRead({
      clock: this.#context.clock,
      pause,
      read: async (signal) => {
        const reading = await read(this.#context, signal);
        if (reading.members !== undefined && !signal.aborted)
          this.memberReadings = [...this.memberReadings, reading.members].slice(-MOST_READINGS);
        return reading;
      },
      onChange: this.#onChange,
    });
  }

  /** Whether nothing is known yet. */
  get isReading(): boolean {
    return this.#reader !== undefined && (this.#reader.value ?? this.#reader.fault) === undefined;
  }

  /** The rows of the tab; undefined for tabs that are not about etcd. */
  get rows(): OutsideRows | undefined {
    if (this.#reader === undefined) return undefined;
    const { value, fault } = this.#reader;
    const known = this.isReading ? "Reading." : "There are none.";
    const empty = fault === undefined ? known : `etcd does not show them: ${fault}`;
    return { rows: value?.rows ?? NO_ROWS, empty };
  }

  /** The summary of the rows, and faults. */
  get status(): { text: string; role: "problem" | "quiet" } {
    const { value, fault, delay = 0 } = this.#reader ?? {};
    const wrong =
      fault === undefined
        ? delay > MIN_SHOWN_DELAY_MS && `no answer for ${formatBriefDuration(delay)}`
        : `cannot be read: ${fault}`;
    return { text: collectTexts([value?.summary, wrong]).join("; "), role: wrong ? "problem" : "quiet" };
  }
}
