import { addEtcdFaults } from "../cli/commands/see/live-output.ts";
import { formatJsonDocument } from "../cli/frame/json-output.ts";
import { judgeWaitAge, shortenOwner } from "../cli/views/columns.ts";
import { UNICODE_DRAWING } from "../cli/views/drawing.ts";
import { formatShare, getHostTone } from "../cli/views/hosts.ts";
import { buildOverview, type HostLoad, OVERVIEW_JSON, type Overview } from "../cli/views/overview.ts";
import { formatTimeUntilNext, getScheduleTone } from "../cli/views/schedules.ts";
import type { WallTime } from "../core/base/clock.ts";
import { formatBriefDuration, formatInstant } from "../core/base/duration.ts";
import { pluralize } from "../core/base/text.ts";
import { getShareTone } from "../site/state/shares.ts";
import type { Tone } from "../site/state/subject.ts";
import { type Html, html, type Page } from "./html.ts";
import { renderBar, renderTableRow, type ShownCell } from "./lists.ts";
import { findSubjectPath } from "./routes.ts";
import type { SiteState } from "./site-follower.ts";

/** Parts of the graph. */
const GRAPH_BUCKETS = 120;

function readOverview({ snapshot, health }: SiteState, wall: WallTime, buckets?: number): Overview {
  return buildOverview(addEtcdFaults(snapshot, health), wall, { etcd: health, ...(buckets && { buckets }) });
}

/** Formats what `signalbox overview --json` prints. */
export function formatOverviewJson(state: SiteState, wall: WallTime, prefix: string): string {
  const { revision } = state.snapshot;
  return formatJsonDocument({ revision, prefix, ...OVERVIEW_JSON.toJson(readOverview(state, wall)) });
}

/** Builds the first page: the whole site at one moment, as the console's overview. */
export function buildOverviewPage(state: SiteState, wall: WallTime, basePath: string): Page {
  const overview = readOverview(state, wall, GRAPH_BUCKETS);
  const parts: Record<string, Html> = {
    counts: renderCounts(overview, basePath),
    hosts: renderHosts(overview, basePath),
    activity: renderActivity(overview),
    queues: renderQueues(overview, wall, basePath),
    next: renderNextRuns(overview, wall, basePath),
    failures: renderFailures(overview, wall, basePath),
    etcd: renderEtcd(overview, wall),
  };
  return {
    title: "Overview",
    section: "",
    blocks: [
      {
        id: "overview",
        before: html`<h1>Overview</h1><div id="overview">`,
        items: Object.entries(parts).map(([id, content]) => ({
          id,
          html: html`<section id="${id}">${content}</section>`,
        })),
        after: html`</div>`,
      },
    ],
  };
}

function renderCounts({ counts }: Overview, basePath: string): Html {
  const { held, waiting, problems, drains, schedules, hosts, workers } = counts;
  const entries: readonly (readonly [path: string, count: number, what: string, tone: Tone])[] = [
    ["runs?state=held", held, `held`, "held"],
    ["queues", waiting, "waiting", "waiting"],
    ["problems", problems, problems === 1 ? "problem" : "problems", "problem"],
    ["drains", drains, drains === 1 ? "drain" : "drains", "problem"],
    ["hosts", hosts, hosts === 1 ? "host" : "hosts", "plain"],
    ["workers", workers, workers === 1 ? "worker" : "workers", "plain"],
    ["schedules", schedules, schedules === 1 ? "schedule" : "schedules", "plain"],
  ];
  return html`<h2 class="hidden">Counts</h2><ul class="counts">${entries.map(
    ([path, count, what, tone]) =>
      html`<li><a href="${basePath}/${path}" class="${count === 0 ? "quiet" : tone}"><span aria-hidden="true">${
        count === 0 ? "" : UNICODE_DRAWING.marks[tone].trim()
      }</span> <strong>${count}</strong> ${what}</a></li>`,
  )}</ul>`;
}

/** Hosts that are shown; of more, the busiest are in the list of hosts. */
const MAX_SHOWN_HOSTS = 200;

function renderHosts({ hosts }: Overview, basePath: string): Html {
  const left = hosts.length - MAX_SHOWN_HOSTS;
  return html`<h2>Hosts</h2>${hosts.length === 0 && html`<p>No hosts yet.</p>`}<ul class="hosts">${hosts
    .slice(0, MAX_SHOWN_HOSTS)
    .map((host) => renderHost(host, basePath))}</ul>${
    left > 0 && html`<p><a href="${basePath}/hosts">and ${pluralize(left, "more host")}</a></p>`
  }`;
}

function renderHost(host: HostLoad, basePath: string): Html {
  const { isDrained, fullest, state, held } = host;
  const tone = isDrained
    ? "problem"
    : fullest?.total === undefined
      ? getHostTone(state)
      : getShareTone(fullest);
  const load = isDrained
    ? "drained"
    : fullest !== undefined
      ? formatShare(fullest)
      : held > 0
        ? `${held} held`
        : state;
  const path = findSubjectPath({ kind: "host", name: host.host }, basePath);
  return html`<li class="${tone}"><a href="${path}">${shortenOwner(host.host)}</a> ${
    fullest && !isDrained && renderBar(fullest)
  } <span>${isDrained && html`<span aria-hidden="true">${UNICODE_DRAWING.drained} </span>`}${load}</span></li>`;
}

/** Height of the mark of a failure, and of the smallest value. */
const BAD_HEIGHT = 4;
const GRAPH = { width: 600, above: 90, below: 60 };

/** Draws who held and waited: holders stand on the line, from which waiters hang. The text says the largest and the last numbers. */
function renderActivity({ activity }: Overview): Html {
  const { holders, waiters, failures, from, until } = activity;
  const { width, above, below } = GRAPH;
  const step = width / Math.max(1, holders.length);
  const bars = (values: readonly number[], height: number, isHanging: boolean, kind: string) => {
    const most = Math.max(1, ...values);
    return values.map((value, at) => {
      const isBad = !isHanging && (failures[at] ?? 0) > 0;
      const size = Math.max(isBad || value > 0 ? BAD_HEIGHT : 0, (value / most) * height);
      const y = isHanging ? above : above - size;
      const draw = (kind: string, tall: number) =>
        html`<rect class="${kind}" x="${(at * step).toFixed(1)}" y="${y.toFixed(1)}" width="${(step * 0.85).toFixed(1)}" height="${tall.toFixed(1)}"/>`;
      // Only the top is marked: most of what was held then went well.
      return size > 0 && [draw(kind, size), isBad && draw("bad", BAD_HEIGHT)];
    });
  };
  const describe = (values: readonly number[]) =>
    `at most ${Math.max(0, ...values)}, ${values.at(-1) ?? 0} last`;
  const failed = failures.reduce((sum, count) => sum + count, 0);
  const text = `holders: ${describe(holders)}; waiters: ${describe(waiters)}; ${pluralize(failed, "failure")}`;
  return html`<h2>Activity, last ${formatBriefDuration(until - from)}</h2>
<svg class="graph" viewBox="0 0 ${width} ${above + below}" preserveAspectRatio="none" role="img" aria-label="${text}">${bars(holders, above, false, "holders")}${bars(waiters, below, true, "waiters")}<line x1="0" y1="${above}" x2="${width}" y2="${above}"/></svg>
<p class="key"><span class="holders">▲ holders above: ${describe(holders)}</span> <span class="waiters">▼ waiters below: ${describe(waiters)}</span> <span class="bad">■ ${pluralize(failed, "failure")}</span></p>
<p class="axis"><time>${formatInstant(from)}</time> <time>${formatInstant(until)}</time></p>`;
}

type RowCells = readonly (readonly [text: string, tone?: Tone])[];

/** Renders a table of few columns. The first cell of a row leads to what it is about. */
function renderTable(
  title: string,
  heads: readonly string[],
  rows: readonly { cells: RowCells; kind: "lock" | "resource" | "schedule"; name: string }[],
  empty: string,
  basePath: string,
): Html {
  if (rows.length === 0) return html`<h2>${title}</h2><p>${empty}</p>`;
  const lines = rows.map(({ cells, kind, name }) => {
    const shown = cells.map(([text, tone = "plain"]): ShownCell => ({ text, tone, column: { priority: 1 } }));
    return renderTableRow(undefined, shown, { kind, name }, basePath);
  });
  return html`<h2>${title}</h2><div class="scroll" role="region" aria-label="${title}" tabindex="0"><table><thead><tr>${heads.map((head) => html`<th scope="col">${head}</th>`)}</tr></thead><tbody>${lines}</tbody></table></div>`;
}

function renderQueues({ queues }: Overview, wall: WallTime, basePath: string): Html {
  const rows = queues.map(({ kind, name, waiting, since = wall }) => {
    const age = wall - since;
    const cells: RowCells = [[name], [String(waiting)], [formatBriefDuration(age), judgeWaitAge(age)]];
    return { cells, kind, name };
  });
  return renderTable("Busiest queues", ["NAME", "WAITERS", "LONGEST"], rows, "Nobody waits.", basePath);
}

function renderNextRuns({ next }: Overview, wall: WallTime, basePath: string): Html {
  const rows = next.map(({ id, at, state }) => {
    const cells: RowCells = [[id], [state, getScheduleTone(state)], [formatTimeUntilNext(at, wall)]];
    return { cells, kind: "schedule" as const, name: id };
  });
  return renderTable(
    "Next runs",
    ["SCHEDULE", "STATE", "NEXT"],
    rows,
    "No schedule has a next run.",
    basePath,
  );
}

function renderFailures({ failures }: Overview, wall: WallTime, basePath: string): Html {
  const rows = failures.map(({ kind, name, result, endedAt, host = "", reason = "" }) => {
    const cells: RowCells = [
      [name],
      [kind],
      [result, "problem"],
      [`${formatBriefDuration(wall - endedAt)} ago`],
      [shortenOwner(host)],
      [reason],
    ];
    return { cells, kind, name };
  });
  const heads = ["NAME", "KIND", "RESULT", "ENDED", "HOST", "REASON"];
  return renderTable("Last failures", heads, rows, "None recorded.", basePath);
}

function renderEtcd({ etcd }: Overview, wall: WallTime): Html {
  if (etcd === undefined) return html``;
  if (etcd.kind === "silence")
    return html`<h2>etcd</h2><p class="problem">${UNICODE_DRAWING.marks.problem}does not answer for ${formatBriefDuration(wall - etcd.since)}: ${etcd.error.message}</p>`;
  const { ms, leader = "none", up, total, version = "unknown" } = etcd;
  return html`<h2>etcd</h2><p>${up}/${total} members, leader ${leader}, version ${version}, ${Math.round(ms)} ms</p>`;
}
