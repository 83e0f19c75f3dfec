import { reportAll, reportLocks, reportSchedules } from "../cli/commands/check/check-recent.impl.ts";
import { type CheckScheduleFlags, RECENT_CHECKS } from "../cli/commands/check/check-recent.ts";
import { printReport } from "../cli/commands/check/findings.ts";
import { readDetail } from "../cli/commands/see/show.impl.ts";
import type { DetailDocument } from "../cli/commands/see/show-json.ts";
import { parseCall } from "../cli/frame/command-line/parse-call.ts";
import { formatJsonPieces } from "../cli/frame/json-output.ts";
import { selectRecentAudit } from "../cli/frame/read-snapshot.ts";
import type { CommandContext } from "../cli/frame/store-command.ts";
import type { Detail, Fact, Section } from "../cli/views/detail.ts";
import { computeDisplayWidth } from "../core/base/display-width.ts";
import { EXIT, SignalboxError } from "../core/base/errors.ts";
import { clean, collectTexts } from "../core/base/text.ts";
import { type Html, html, type Page } from "./html.ts";
import { renderTable, renderTableRow } from "./lists.ts";
import { Body, type Reply, TYPES } from "./reply.ts";
import type { Route } from "./routes.ts";

type ObjectRoute = Extract<Route, { kind: "object" }>;

/** Reads an object as `signalbox show` does. @throws SignalboxError 1 if there is none; UsageError */
export function readObject(context: CommandContext, { of, name }: ObjectRoute): Promise<DetailDocument> {
  const { followedSnapshot, clock } = context;
  const recent = followedSnapshot && selectRecentAudit(followedSnapshot, clock.getWallTime());
  return readDetail({ ...context, ...(recent && { followedSnapshot: recent }) }, of, name);
}

/** Formats what `signalbox show --json` prints. */
export function formatObjectJson({ of }: ObjectRoute, { revision, createDocument }: DetailDocument) {
  return formatJsonPieces({ revision, kind: of, ...createDocument() });
}

/** Builds the page of an object. */
export function buildObjectPage(
  { of, name }: ObjectRoute,
  { createDetail }: DetailDocument,
  basePath: string,
): Page {
  return {
    title: clean(`${of} ${name}`, 100),
    section: `${of}s`,
    blocks: [
      {
        id: "object",
        before: html`<div id="object">`,
        items: listParts(createDetail(), basePath).map((content, at) => ({
          id: `part-${at}`,
          html: html`<div id="part-${at}">${content}</div>`,
        })),
        after: html`</div>`,
      },
    ],
  };
}

function listParts({ heading, tone, facts, sections }: Detail, basePath: string): Html[] {
  return [
    html`<h1 class="${tone}">${heading}</h1>`,
    html`<dl>${facts.map(renderFact)}</dl>`,
    ...sections.map((section) => renderSection(section, basePath)),
  ];
}

function renderFact({ label, value, tone = "plain" }: Fact): Html {
  return html`<div><dt>${label}</dt><dd class="${tone}">${value}</dd></div>`;
}

function renderSection(section: Section, basePath: string): Html {
  const { title } = section;
  if (section.kind === "lines")
    return html`<section><h2>${title}</h2><pre tabindex="0">${section.lines.map(
      (line) => html`${line}
`,
    )}</pre></section>`;
  const { columns, rows, targets } = section;
  const lines = rows.map((row, at) =>
    renderTableRow(
      undefined,
      row.map((cell, index) => ({ ...cell, column: columns[index] ?? { priority: 1 } })),
      targets?.[at]?.subject,
      basePath,
    ),
  );
  return html`<section>${renderTable(title, columns, lines)}</section>`;
}

type CheckRoute = Extract<Route, { kind: "check" | "badge" }>;

/** What `signalbox check` says. `code` is its exit code; undefined if there is nothing of this name. */
interface CheckResult {
  text: string;
  code: number | undefined;
}

/** Checks a lock or a schedule, or all of them. @throws UsageError */
async function check(
  context: CommandContext,
  route: CheckRoute,
  query: URLSearchParams,
  isJson: boolean,
): Promise<CheckResult> {
  const [checkLock, checkSchedule] = RECENT_CHECKS;
  const words = ["within", "tag"].flatMap((key) => query.getAll(key).map((value) => `--${key}=${value}`));
  const switches = collectTexts([query.has("expect") && "--expect", isJson && "--json"]);
  const named = route.of === "all" ? ["--all"] : ["--", route.name];
  const { flags, args } = parseCall(route.of === "lock" ? checkLock : checkSchedule, [
    ...words,
    ...switches,
    ...named,
  ]);
  let text = "";
  const writeOutput = (more: string) => {
    text += more;
    return true;
  };
  const own = {
    ...context,
    flags: flags as CheckScheduleFlags,
    args,
    io: { ...context.io, env: {}, writeOutput },
  };
  try {
    const report = await REPORTS[route.of](own);
    return { code: printReport(report, own), text };
  } catch (error) {
    if (!(error instanceof SignalboxError) || error.exitCode !== EXIT.undone) throw error;
    return { code: undefined, text: `FAILURE: ${error.message}\n` };
  }
}

const REPORTS = { lock: reportLocks, schedule: reportSchedules, all: reportAll };

/** Answers 200 if all is well, else 503, with the text of `signalbox check`; or a badge. @param isAway  whether the state may be old */
export async function answerCheck(
  context: CommandContext,
  route: CheckRoute,
  query: URLSearchParams,
  { isJson, isAway }: { isJson: boolean; isAway: boolean },
): Promise<Reply> {
  const { text, code } = isAway
    ? { text: "UNKNOWN: etcd is unreachable\n", code: undefined }
    : await check(context, route, query, isJson);
  if (route.kind === "badge") return drawBadge(route.name, code);
  const type = isJson && code !== undefined ? TYPES.json : TYPES.text;
  return { status: code === 0 ? 200 : 503, type, body: new Body(text) };
}

/** The word and the colour of a badge, by the exit code of the check. */
const BADGES: Readonly<Record<number, readonly [word: string, colour: string]>> = {
  0: ["ok", "#1a7f37"],
  1: ["failed", "#9a6700"],
  2: ["overdue", "#c01c28"],
};

/** Draws the state of a lock or a schedule as a small picture. */
function drawBadge(about: string, code = -1): Reply {
  const [word, colour] = BADGES[code] ?? ["unknown", "#57606a"];
  const name = clean(about, 60);
  const [left, right] = [name, word].map((text) => 7 * computeDisplayWidth(text) + 14) as [number, number];
  const drawing = html`<svg xmlns="http://www.w3.org/2000/svg" width="${left + right}" height="20" role="img" aria-label="${name}: ${word}">
<title>${name}: ${word}</title>
<rect width="${left}" height="20" fill="#3d444d"/><rect x="${left}" width="${right}" height="20" fill="${colour}"/>
<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11" text-anchor="middle">
<text x="${left / 2}" y="14">${name}</text><text x="${left + right / 2}" y="14">${word}</text></g></svg>
`;
  const headers = { "cross-origin-resource-policy": "cross-origin" }; // pages of others show it
  return { status: 200, type: TYPES.svg, body: new Body(drawing.text), headers };
}
