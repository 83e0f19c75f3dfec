import { reportLocks, reportSchedules } from "../cli/commands/check/check-recent.impl.ts";
import type { CheckLockFlags, CheckScheduleFlags } from "../cli/commands/check/check-recent.ts";
import { RECENT_CHECKS } from "../cli/commands/check/check-recent.ts";
import { printReport } from "../cli/commands/check/findings.ts";
import { readDetail } from "../cli/commands/see/show.impl.ts";
import type { DetailDocument } from "../cli/commands/see/show-json.ts";
import type { Call, CommandIo } from "../cli/frame/command.ts";
import { parseCall } from "../cli/frame/command-line/parse-call.ts";
import { formatJsonDocument } from "../cli/frame/json-output.ts";
import { selectRecentAudit } from "../cli/frame/read-snapshot.ts";
import type { CommandContext } from "../cli/frame/store-command.ts";
import type { Detail, Fact, Section } from "../cli/views/detail.ts";
import { computeDisplayWidth } from "../core/base/display-width.ts";
import { SignalboxError } from "../core/base/errors.ts";
import { clean } from "../core/base/text.ts";
import { type Html, html, type Page } from "./html.ts";
import { getCellClass, renderTableRow } from "./lists.ts";
import { Body, createTextReply, type Reply, TYPES } from "./reply.ts";
import type { Route } from "./routes.ts";

type ObjectRoute = Extract<Route, { kind: "object" }>;

/** Reads an object as `signalbox show` does. @throws SignalboxError 1 if there is none; UsageError */
export function readObject(context: CommandContext, { of, name }: ObjectRoute): Promise<DetailDocument> {
  const { followedSnapshot, clock } = context;
  const recent = followedSnapshot && selectRecentAudit(followedSnapshot, clock.getWallTime());
  return readDetail({ ...context, ...(recent && { followedSnapshot: recent }) }, of, name);
}

/** Formats what `signalbox show --json` prints. */
export function formatObjectJson({ of }: ObjectRoute, { revision, document }: DetailDocument): string {
  return formatJsonDocument({ revision, kind: of, ...document });
}

/** Builds the page of an object. */
export function buildObjectPage(
  { of, name }: ObjectRoute,
  { detail }: DetailDocument,
  basePath: string,
): Page {
  return {
    title: clean(`${of} ${name}`, 100),
    section: `${of}s`,
    blocks: [
      {
        id: "object",
        before: html`<div id="object">`,
        items: listParts(detail, basePath).map((content, at) => ({
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
  const heads = columns.map(
    (column) => html`<th scope="col" class="${getCellClass(column)}">${column.title}</th>`,
  );
  const lines = rows.map((row, at) =>
    renderTableRow(
      undefined,
      row.map(({ text, tone = "plain" }, index) => ({
        text,
        tone,
        column: columns[index] ?? { priority: 1 },
      })),
      targets?.[at]?.subject,
      basePath,
    ),
  );
  return html`<section><h2>${title}</h2><div class="scroll" role="region" aria-label="${title}" tabindex="0"><table>
<thead><tr>${heads}</tr></thead><tbody>${lines}</tbody></table></div></section>`;
}

type CheckRoute = Extract<Route, { kind: "check" | "badge" }>;

const CHECK_VALUES = ["within", "tag"];

/** What `signalbox check` says. `code` is its exit code. */
interface CheckResult {
  text: string;
  code: number;
}

/** Checks a lock or a schedule, or all schedules. @throws UsageError; SignalboxError 1 for an unknown schedule */
async function check(
  context: CommandContext,
  { of, name }: { of: CheckRoute["of"]; name?: string | undefined },
  query: URLSearchParams,
  isJson: boolean,
): Promise<CheckResult> {
  const [checkLock, checkSchedule] = RECENT_CHECKS;
  const words = CHECK_VALUES.flatMap((key) => query.getAll(key).map((value) => `--${key}=${value}`));
  const switches = [...(query.has("expect") ? ["--expect"] : []), ...(isJson ? ["--json"] : [])];
  const all = [...words, ...switches, ...(name === undefined ? ["--all"] : ["--", name])];
  const call = parseCall(of === "lock" ? checkLock : checkSchedule, all);
  let text = "";
  const io: CommandIo = {
    ...context.io,
    env: {},
    writeOutput: (more) => {
      text += more;
      return true;
    },
  };
  const own = { ...context, ...call, io };
  const report =
    of === "lock"
      ? await reportLocks(own as CommandContext & Call<CheckLockFlags>)
      : await reportSchedules(own as CommandContext & Call<CheckScheduleFlags>);
  const code = printReport(report, own as { flags: CheckLockFlags; io: CommandIo });
  return { text, code };
}

/** Answers 200 if all is well, else 503, with the text of `signalbox check`. @param isAway  whether the state may be old */
export async function answerCheck(
  context: CommandContext,
  route: Extract<Route, { kind: "check" }>,
  query: URLSearchParams,
  { isJson, isAway }: { isJson: boolean; isAway: boolean },
): Promise<Reply> {
  if (isAway) return createTextReply(503, "UNKNOWN: etcd is unreachable");
  try {
    const { text, code } = await check(context, route, query, isJson);
    const status = code === 0 ? 200 : 503;
    return { status, type: isJson ? TYPES.json : TYPES.text, body: new Body(text) };
  } catch (error) {
    if (!isUnknownName(error)) throw error;
    return createTextReply(503, `FAILURE: ${(error as Error).message}`);
  }
}

function isUnknownName(error: unknown): boolean {
  return error instanceof SignalboxError && error.exitCode === 1;
}

/** The word and the colour of a badge, by the exit code of the check. */
const BADGES: Readonly<Record<number, readonly [word: string, colour: string]>> = {
  0: ["ok", "#1a7f37"],
  1: ["failed", "#9a6700"],
  2: ["overdue", "#c01c28"],
};
const UNKNOWN_BADGE = ["unknown", "#57606a"] as const;

/** Draws the state of a lock or a schedule as a small picture. */
export async function answerBadge(
  context: CommandContext,
  route: Extract<Route, { kind: "badge" }>,
  query: URLSearchParams,
  isAway: boolean,
): Promise<Reply> {
  const code = isAway ? undefined : await findBadgeCode(context, route, query);
  const [word, colour] = BADGES[code ?? -1] ?? UNKNOWN_BADGE;
  const name = clean(route.name, 60);
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

async function findBadgeCode(
  context: CommandContext,
  { of, name }: Extract<Route, { kind: "badge" }>,
  query: URLSearchParams,
): Promise<number | undefined> {
  try {
    return (await check(context, { of, name }, query, false)).code;
  } catch (error) {
    if (!isUnknownName(error)) throw error;
    return undefined;
  }
}
