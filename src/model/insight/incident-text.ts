import { formatDuration, formatInstant } from "../../base/duration.ts";
import { clean } from "../../base/text.ts";
import type { IncidentReport } from "./incident.ts";

/** Longest text of a cell. Commands and reasons can be much longer. */
const LONGEST = 400;

/** Formats a report as a Markdown document. Names and texts from etcd cannot change its structure. */
export function formatIncidentMarkdown(report: IncidentReport): string {
  const { title, cluster, by, from, until, entries, problemsAtStart, problemsAtEnd, commands, notes } =
    report;
  const timeline = entries.map(({ at, kind, subject, detail }) =>
    formatRow([formatInstant(at), kind, quoteMarkdown(subject), quoteMarkdown(detail)]),
  );
  const ran = commands.map(({ at, line, result }) =>
    formatRow([formatInstant(at), quoteMarkdown(line), quoteMarkdown(result)]),
  );
  return [
    `# ${escapeTitle(title)}`,
    "",
    `- Cluster: ${quoteMarkdown(cluster)}`,
    `- From: ${formatInstant(from)}`,
    `- To: ${formatInstant(until)} (${formatDuration(Math.floor((until - from) / 1000) * 1000)})`,
    `- Written by: ${quoteMarkdown(by)}`,
    ...section("Timeline", formatTable(["Time", "What", "Object", "Detail"], timeline)),
    ...section("Problems at the start", formatList(problemsAtStart)),
    ...section("Problems at the end", formatList(problemsAtEnd)),
    ...section("Commands used", formatTable(["Time", "Command", "Result"], ran)),
    ...(notes.length === 0 ? [] : section("What is missing", formatList(notes))),
    "",
  ].join("\n");
}

/**
 * Quotes a text as code, in which neither links nor HTML nor emphasis exist. A table would end a cell at `|` in code too,
 * so this becomes a broken bar.
 */
export function quoteMarkdown(text: string): string {
  const line = clean(text).replaceAll(/\s+/g, " ").replaceAll("|", "¦").trim();
  if (line === "") return "";
  const short = line.length > LONGEST ? `${line.slice(0, LONGEST).trimEnd()}…` : line;
  const longest = Math.max(0, ...(short.match(/`+/g) ?? []).map((run) => run.length));
  const fence = "`".repeat(longest + 1);
  return longest > 0 ? `${fence} ${short} ${fence}` : fence + short + fence;
}

/** A heading is the operator's own text: its signs are taken literally. */
function escapeTitle(text: string): string {
  const line = clean(text).replaceAll(/\s+/g, " ").trim() || "Incident";
  return line.replaceAll(/[!-/:-@[-`{-~]/g, "\\$&");
}

function section(title: string, lines: readonly string[]): string[] {
  return ["", `## ${title}`, "", ...lines];
}

function formatTable(head: readonly string[], rows: readonly string[]): string[] {
  return rows.length === 0 ? ["None."] : [formatRow(head), formatRow(head.map(() => "---")), ...rows];
}

function formatRow(cells: readonly string[]): string {
  return `| ${cells.join(" | ")} |`;
}

function formatList(items: readonly string[] | undefined): string[] {
  if (items === undefined) return ["Not known."];
  return items.length === 0 ? ["None."] : items.map((item) => `- ${quoteMarkdown(item)}`);
}
