import { addEtcdFaults } from "../cli/commands/see/live-output.ts";
import { formatJsonDocument } from "../cli/frame/json-output.ts";
import { shortenOwner } from "../cli/views/columns.ts";
import { UNICODE_DRAWING } from "../cli/views/drawing.ts";
import { getHostTone } from "../cli/views/hosts.ts";
import {
  buildOverview,
  buildSummary,
  type HostLoad,
  MOST_OVERVIEW_ITEMS,
  OVERVIEW_JSON,
  type Summary,
} from "../cli/views/overview.ts";
import { formatHostLoad } from "../cli/views/overview-drawing.ts";
import { formatBriefDuration, formatInstant, type WallTime } from "../core/base/clock.ts";
import { pluralize } from "../core/base/text.ts";
import { getShareTone } from "../site/state/shares.ts";
import type { Tone } from "../site/state/subject.ts";
import { type Html, html, type Page } from "./html.ts";
import { renderBar, type SiteLists } from "./lists.ts";
import { findSubjectPath } from "./routes.ts";
import type { SiteState } from "./site-follower.ts";

/** Parts of the graph. */
const GRAPH_BUCKETS = 120;

/** Formats what `signalbox overview --json` prints. */
export function formatOverviewJson({ snapshot, health }: SiteState, wall: WallTime, prefix: string): string {
  const overview = buildOverview(addEtcdFaults(snapshot, health), wall, { etcd: health });
  return formatJsonDocument({ revision: snapshot.revision, prefix, ...OVERVIEW_JSON.toJson(overview) });
}

/** The lists beside the graph. */
const TABLES = [
  ["locks", "Busiest locks", "filter=waiting:>0&sort=-waiting"],
  ["schedules", "Next runs", "sort=next"],
  ["resources", "Busiest resources", "filter=waiting:>0&sort=-waiting"],
  ["history", "Last failures", "state=failed"],
] as const;

/** Builds the first page: the whole site at one moment, as the console's overview. */
export async function buildOverviewPage(
  lists: SiteLists,
  state: SiteState,
  wall: WallTime,
  basePath: string,
): Promise<Page> {
  const { snapshot, health } = state;
  const options = { etcd: health, buckets: GRAPH_BUCKETS };
  const summary = buildSummary(addEtcdFaults(snapshot, health), wall, options);
  const toItem = (id: string, part: Html) => ({ id, html: html`<section id="${id}">${part}</section>` });
  const tables = TABLES.map(async ([id, title, words]) => {
    const list = { id, query: new URLSearchParams(`${words}&limit=${MOST_OVERVIEW_ITEMS}`) };
    return toItem(id, await lists.renderTable(title, list, state, wall));
  });
  const items = [
    toItem("counts", renderCounts(summary, basePath)),
    toItem("hosts", renderHosts(summary, basePath)),
    toItem("activity", renderActivity(summary)),
    ...(await Promise.all(tables)),
    toItem("etcd", renderEtcd(summary, wall)),
  ];
  return {
    title: "Overview",
    section: "overview",
    blocks: [
      { id: "overview", before: html`<h1>Overview</h1><div id="overview">`, items, after: html`</div>` },
    ],
  };
}

const COUNTED = ["problem", "drain", "host", "worker", "schedule"] as const;

function renderCounts({ counts }: Summary, basePath: string): Html {
  const { held, waiting } = counts;
  const entries: readonly (readonly [path: string, count: number, text: string, tone: Tone])[] = [
    ["runs?state=held", held, `${held} held`, "held"],
    ["queues", waiting, `${waiting} waiting`, "waiting"],
    ...COUNTED.map((noun, at) => {
      const count = counts[`${noun}s`];
      return [`${noun}s`, count, pluralize(count, noun), at < 2 ? "problem" : "plain"] as const;
    }),
  ];
  return html`<h2 class="hidden">Counts</h2><ul class="counts">${entries.map(
    ([path, count, text, tone]) =>
      html`<li><a href="${basePath}/${path}" class="${count === 0 ? "quiet" : tone}">${
        count > 0 && html`<span aria-hidden="true">${UNICODE_DRAWING.marks[tone]}</span>`
      }${text}</a></li>`,
  )}</ul>`;
}

/** Hosts that are shown; of more, the busiest are in the list of hosts. */
const MAX_SHOWN_HOSTS = 200;

function renderHosts({ hosts }: Summary, basePath: string): Html {
  const left = hosts.length - MAX_SHOWN_HOSTS;
  return html`<h2>Hosts</h2>${hosts.length === 0 && html`<p>No hosts yet.</p>`}<ul class="hosts">${hosts
    .slice(0, MAX_SHOWN_HOSTS)
    .map((host) => renderHost(host, basePath))}</ul>${
    left > 0 && html`<p><a href="${basePath}/hosts">and ${pluralize(left, "more host")}</a></p>`
  }`;
}

function renderHost(host: HostLoad, basePath: string): Html {
  const { isDrained, fullest, state } = host;
  const tone = isDrained
    ? "problem"
    : fullest?.total === undefined
      ? getHostTone(state)
      : getShareTone(fullest);
  const path = findSubjectPath({ kind: "host", name: host.host }, basePath);
  return html`<li class="${tone}"><a href="${path}">${shortenOwner(host.host)}</a> ${
    fullest && !isDrained && renderBar(fullest)
  } <span>${isDrained && html`<span aria-hidden="true">${UNICODE_DRAWING.drained} </span>`}${formatHostLoad(host)}</span></li>`;
}

/** Height of the mark of a failure, and of the smallest value. */
const BAD_HEIGHT = 4;
const GRAPH = { width: 600, above: 90, below: 60 };

/** Draws who held and waited: holders stand on the line, from which waiters hang. The text says the largest and the last numbers. */
function renderActivity({ activity }: Summary): Html {
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
    `at most ${Math.round(Math.max(0, ...values))}, ${Math.round(values.at(-1) ?? 0)} last`;
  const failed = failures.reduce((sum, count) => sum + count, 0);
  const text = `holders: ${describe(holders)}; waiters: ${describe(waiters)}; ${pluralize(failed, "failure")}`;
  return html`<h2>Activity, last ${formatBriefDuration(until - from)}</h2>
<svg class="graph" viewBox="0 0 ${width} ${above + below}" preserveAspectRatio="none" role="img" aria-label="${text}">${bars(holders, above, false, "holders")}${bars(waiters, below, true, "waiters")}<line x1="0" y1="${above}" x2="${width}" y2="${above}"/></svg>
<p class="key"><span class="holders">▲ holders above: ${describe(holders)}</span> <span class="waiters">▼ waiters below: ${describe(waiters)}</span> <span class="bad">■ ${pluralize(failed, "failure")}</span></p>
<p class="axis"><time>${formatInstant(from)}</time> <time>${formatInstant(until)}</time></p>`;
}

function renderEtcd({ etcd }: Summary, wall: WallTime): Html {
  if (etcd === undefined) return html``;
  if (etcd.kind === "silence")
    return html`<h2>etcd</h2><p class="problem">${UNICODE_DRAWING.marks.problem}does not answer for ${formatBriefDuration(wall - etcd.since)}: ${etcd.error.message}</p>`;
  const { ms, leader = "none", up, total, version = "unknown" } = etcd;
  return html`<h2>etcd</h2><p>${up}/${total} members, leader ${leader}, version ${version}, ${Math.round(ms)} ms</p>`;
}
