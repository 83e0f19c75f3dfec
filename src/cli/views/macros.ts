import type { HostRecord } from "../../core/fleet/host-record.ts";
import type { Drain } from "../../core/protocol/drain.ts";
import { isDrainApplicable } from "../../core/protocol/drain.ts";
import { computeShares, getShareTone, listTemplates, type ResourceShare } from "../../site/state/shares.ts";
import type { Snapshot } from "../../site/state/snapshot.ts";
import { buildHostReach, CONTEXT_COLLECTIONS, type ViewContext } from "../../site/state/view-context.ts";
import {
  createNumberColumn,
  createOwnerColumn,
  createTextColumn,
  formatDrainNote,
  formatPairs,
} from "./columns.ts";
import { DRAIN_JSON } from "./drains.ts";
import { SHARE_JSON } from "./hosts.ts";
import {
  describeField,
  describeFieldsOf,
  describeNumber,
  describeObject,
  describeParts,
  describeText,
  describeTexts,
} from "./json.ts";
import { formatMacroDispute } from "./macro-dispute.ts";
import type { SnapshotView, TableColumn } from "./view.ts";

/** A host, what its macros stand for, and the resources that its name is part of. */
export interface MacroRow {
  host: string;
  /** Undefined if it has written none: its resources are then known from tickets. */
  record: HostRecord | undefined;
  /** In the configured order, then by name. */
  shares: readonly ResourceShare[];
  drains: readonly Drain[];
  /** By the name of a resource: that processes of the host have different macros. */
  disputes: ReadonlyMap<string, string>;
}

export const macrosView: SnapshotView<MacroRow> = {
  of: "snapshot",
  id: "macros",
  brief: "hosts by resources: what macros such as FQDN_mem stand for, how full each is",
  collections: [...CONTEXT_COLLECTIONS, "resources", "workers", "runnings"],
  columns: [
    createOwnerColumn("host", 1, ({ host }) => host, {
      getTone: ({ drains }) => (drains.length > 0 ? "problem" : "plain"),
      getCellSubject: ({ host }) => ({ kind: "host", name: host }),
      describeCell: ({ host, record }) => {
        const values = { CPU: record?.cpu ?? "?", MEMMB: record?.memMb ?? "?", ...record?.macros };
        return { text: `${host}  ${formatPairs(values)}`, tone: "plain" };
      },
    }),
    createNumberColumn("cpu", 5, ({ record }) => record?.cpu),
    createNumberColumn("memory", 5, ({ record }) => record?.memMb, { title: "MEMMB" }),
    createTextColumn("macros", 6, ({ record }) => formatPairs(record?.macros)),
    createTextColumn("note", 6, formatNote, { getTone: () => "problem" }),
  ],
  sort: "host",
  getKey: ({ host }) => host,
  getFacets: ({ host, shares, drains, disputes }) => ({
    states: [
      ...(drains.length > 0 ? ["drained"] : []),
      ...(disputes.size > 0 ? ["disputed"] : []),
      shares.some(({ used }) => used > 0) ? "held" : "free",
    ],
    hosts: [host],
    holders: [],
  }),
  getSubject: ({ host }) => ({ kind: "host", name: host }),
  json: describeObject("macros", "A host, its macros, and its resources.", {
    host: describeText("full name, in lower case", "host"),
    ...describeFieldsOf(({ record }: MacroRow) => record, {
      "cpu?": describeNumber("the macro `CPU`", "cpu"),
      "memMb?": describeNumber("the macro `MEMMB`", "memMb"),
      "macros?": describeField(
        {
          type: "object",
          description: "the macros from its settings",
          additionalProperties: { type: ["number", "string"] },
        },
        "macros",
      ),
    }),
    shares: describeParts(SHARE_JSON, "its resources, in the configured order", ({ shares }) => shares),
    disputes: describeTexts(
      "which processes of the host have different macros, and what follows",
      ({ disputes }) => [...disputes.values()],
    ),
    drains: describeParts(
      DRAIN_JSON,
      "drains of the host, of its groups, and of everything",
      ({ drains }) => drains,
    ),
  }),
  buildRows: buildMacroRows,
  empty:
    "No hosts yet. Their resources come from a configured name with a macro: signalbox resource set FQDN_mem 'int(MEMMB/1024)'",
};

/** Adds to the view a column for each resource: those with a configured name such as `FQDN_mem`, then others of hosts. */
export function createMacrosView(
  snapshot: Pick<Snapshot, "resources" | "hosts" | "queues">,
): SnapshotView<MacroRow> {
  const own = computeShares(snapshot).hosts.flatMap(({ parts }) => parts.map(getColumnId));
  const [host, ...others] = macrosView.columns;
  const resources = [...new Set([...listTemplates(snapshot), ...own])].map(createResourceColumn);
  return { ...macrosView, columns: [...(host ? [host] : []), ...resources, ...others] };
}

function getColumnId({ template, short }: ResourceShare): string {
  return template ?? short;
}

/** Finds the resource of a host in a column. */
function findShare({ shares }: MacroRow, id: string): ResourceShare | undefined {
  return shares.find((share) => getColumnId(share) === id);
}

function createResourceColumn(id: string): TableColumn<MacroRow> {
  return createNumberColumn(id, 2, (row) => findShare(row, id)?.used, {
    title: id,
    formatCell: (row) => {
      const share = findShare(row, id);
      return share === undefined ? "" : `${share.isDisputed ? "! " : ""}${share.used}/${share.total ?? "?"}`;
    },
    getSortValue: (row) => {
      const { used = -1, total = used } = findShare(row, id) ?? {};
      return used / Math.max(1, total);
    },
    getShare: (row) => findShare(row, id) ?? { used: 0, total: undefined },
    getTone: (row) => {
      const share = findShare(row, id);
      return share === undefined ? "quiet" : getShareTone(share);
    },
    getCellSubject: (row) => {
      const name = findShare(row, id)?.name;
      return name === undefined ? undefined : { kind: "resource", name, host: row.host };
    },
    describeCell: (row) => {
      const share = findShare(row, id);
      if (share === undefined) return { text: `${row.host} has no ${id}`, tone: "plain" };
      const { name, formula, template } = share;
      const dispute = row.disputes.get(name);
      const origin = template === undefined ? "as its runs state" : `${formula}, from ${template}`;
      return {
        text: `${name}  ${dispute ?? origin}`,
        tone: dispute !== undefined || share.total === undefined ? "problem" : "plain",
      };
    },
  });
}

function formatNote({ drains, disputes }: MacroRow): string {
  return [...(drains.length === 0 ? [] : [formatDrainNote(drains, "host")]), ...disputes.values()].join("; ");
}

function buildMacroRows(snapshot: Snapshot, { groups, drains }: ViewContext): MacroRow[] {
  const shares = new Map(computeShares(snapshot).hosts.map(({ host, parts }) => [host, parts]));
  return [...new Set([...snapshot.hosts.keys(), ...shares.keys()])].map((host) => {
    const reach = buildHostReach(groups, host);
    const own = shares.get(host) ?? [];
    const disputed = own.filter(({ isDisputed }) => isDisputed).map(({ name }) => name);
    return {
      host,
      record: snapshot.hosts.get(host),
      shares: own,
      disputes: new Map(disputed.map((name) => [name, formatMacroDispute(snapshot, name)])),
      drains: drains.filter((drain) => isDrainApplicable(drain, reach)),
    };
  });
}
