import { EXIT, SignalboxError } from "../../../core/base/errors.ts";
import {
  computeFindingsLevel,
  createFindingBuilder,
  type Finding,
  type FindingLevel,
  getFindingId,
} from "../../../core/base/finding.ts";
import { clean } from "../../../core/base/text.ts";
import { StoreError } from "../../../core/etcd/store.ts";
import type { Tone } from "../../../site/state/subject.ts";
import { type CommandExecutor, type CommandIo, declareFlags, type FlagsOf } from "../../frame/command.ts";
import { formatJsonDocument } from "../../frame/json-output.ts";
import { detectOutputStyle, paintText } from "../see/paint.ts";

/** Flags of every check command. */
export const CHECK_FLAGS = declareFlags({
  "--json": "as JSON",
  "--nagios": "one line, and exit codes for Nagios and similar tools (0, 1, 2; 3: could not be checked)",
});

type CheckFlags = FlagsOf<typeof CHECK_FLAGS>;

/** A metric for monitoring. */
export interface CheckFigure {
  name: string;
  value: number;
  /** `B` for bytes, `ms`; undefined for a count. */
  unit?: "B" | "ms";
  warning?: number;
  critical?: number;
}

/** The result of a check. */
export interface CheckReport {
  findings: readonly Finding[];
  figures: readonly CheckFigure[];
  /** The text if nothing is wrong: `3 of 3 members, 1,204 keys`. */
  summary: string;
  /** The revision of etcd that the findings refer to, if they are about etcd. */
  revision?: bigint | undefined;
}

/** For each level its word and tone, and the word and exit code of a check with such a finding. */
const LEVELS: Record<FindingLevel, { word: string; tone: Tone; state: string; code: number }> = {
  ok: { word: "ok", tone: "held", state: "OK", code: 0 },
  hint: { word: "hint", tone: "quiet", state: "OK", code: 0 },
  warning: { word: "warning", tone: "waiting", state: "WARNING", code: 1 },
  unknown: { word: "UNKNOWN", tone: "problem", state: "UNKNOWN", code: 3 },
  failure: { word: "FAILURE", tone: "problem", state: "CRITICAL", code: 2 },
};
/** Columns for the words. */
export const LEVEL_WIDTH = 8;

/** Returns the word for the state of a finding, and its tone. */
export function judgeFinding({ level, isAccepted }: Finding) {
  return isAccepted ? { word: "known", tone: LEVELS.hint.tone } : LEVELS[level];
}

/** Formats a finding for people: the state in the first line, the remedy below. */
export function formatFinding(finding: Finding, io: CommandIo): string {
  const { check, level, detail, remedy, isAccepted } = finding;
  const { word, tone } = judgeFinding(finding);
  const mark = paintText(word.padEnd(LEVEL_WIDTH), tone, detectOutputStyle(io, { wide: true }));
  const advice = remedy === undefined || level === "ok" || isAccepted ? "" : `\n        ${clean(remedy)}`;
  return `${mark}${clean(check)}: ${clean(detail)}${advice}\n`;
}

/** Where and how a check writes its result. */
interface CheckOutput {
  flags: CheckFlags;
  io: CommandIo;
}

/** Writes the findings, unless the result is for programs. */
export function printFindings(findings: readonly Finding[], { flags, io }: CheckOutput): void {
  io.reportFindings?.(findings);
  if (flags.json || flags.nagios) return;
  for (const finding of findings) io.writeOutput(formatFinding(finding, io));
}

/** Writes the findings and the result of a check in the requested form. @returns as `reportCheck` */
export function printReport(report: CheckReport, output: CheckOutput): number {
  printFindings(report.findings, output);
  return reportCheck(report, output);
}

/**
 * Writes the result of a check in the requested form.
 * @returns the exit code: 0 fine, 1 warnings, 2 failures; if something could not be checked 69, for Nagios 3
 */
export function reportCheck(report: CheckReport, { flags, io }: CheckOutput): number {
  const level = computeFindingsLevel(report.findings);
  if (flags.nagios) io.writeOutput(formatNagiosLine(report, level));
  else if (flags.json) io.writeOutput(buildDocument(report, level));
  else io.writeOutput(`${formatCounts(report, level)}\n`);
  if (level === "unknown" && !flags.nagios) return EXIT.unreachable;
  return LEVELS[level].code;
}

function buildDocument({ revision, findings, figures, summary }: CheckReport, level: FindingLevel): string {
  return formatJsonDocument({
    ...(revision !== undefined && { revision }),
    state: LEVELS[level].state.toLowerCase(),
    summary,
    findings: findings.map(toFindingJson),
    figures: Object.fromEntries(figures.map(({ name, value }) => [name, value])),
  });
}

export function toFindingJson({ isAccepted, canBeIntended: _, ...finding }: Finding): object {
  return { ...finding, id: getFindingId(finding), ...(isAccepted && { accepted: true }) };
}

/** Formats the counts, such as `2 failures, 1 warning`, or the summary if nothing is wrong. */
function formatCounts({ findings, summary }: CheckReport, level: FindingLevel): string {
  const known = formatAccepted(findings);
  if (LEVELS[level].code === 0) return `fine: ${clean(summary)}${known}`;
  return `${formatLevelCounts(findings)}${known}`;
}

/** Formats the ids of accepted findings, so that they stay visible. */
function formatAccepted(findings: readonly Finding[]): string {
  const ids = new Set(findings.filter(({ isAccepted }) => isAccepted).map(getFindingId));
  return ids.size === 0 ? "" : ` (accepted: ${[...ids].join(", ")})`;
}

/** Formats how many findings are wrong; empty if none is. */
export function formatLevelCounts(findings: readonly Finding[]): string {
  const words: [FindingLevel, string, string][] = [
    ["failure", "failure", "failures"],
    ["unknown", "check that could not be done", "checks that could not be done"],
    ["warning", "warning", "warnings"],
  ];
  return words
    .map(([level, one, many]) => {
      const count = findings.filter((it) => it.level === level && !it.isAccepted).length;
      return count > 0 && `${count} ${count === 1 ? one : many}`;
    })
    .filter(Boolean)
    .join(", ");
}

/** Largest number of findings that a line names; further ones are only counted. */
const MAX_NAMED_FINDINGS = 3;

/**
 * Formats the plugin output line: text, a bar, and metrics as `name=value[unit];warning;critical`.
 * @see https://nagios-plugins.org/doc/guidelines.html
 */
function formatNagiosLine({ findings, figures, summary }: CheckReport, level: FindingLevel): string {
  const bad = findings
    .filter((finding) => LEVELS[finding.level].code > 0 && !finding.isAccepted)
    .sort((a, b) => Number(b.level === "failure") - Number(a.level === "failure"));
  const named = bad.slice(0, MAX_NAMED_FINDINGS).map(({ check, detail }) => `${check}: ${detail}`);
  const more = bad.length > MAX_NAMED_FINDINGS ? [`and ${bad.length - MAX_NAMED_FINDINGS} more`] : [];
  const text =
    bad.length === 0 ? summary : `${formatLevelCounts(findings)}: ${[...named, ...more].join("; ")}`;
  const values = figures.map(({ name, value, unit = "", warning, critical }) => {
    const limits = [warning ?? "", critical ?? ""].join(";").replace(/;+$/, "");
    return `${name}=${value}${unit}${limits === "" ? "" : `;${limits}`}`;
  });
  return formatNagiosText(level, `${text}${formatAccepted(findings)}`, values);
}

/** Replaces bars in the text, since a bar starts the metrics. */
function formatNagiosText(level: FindingLevel, text: string, values: readonly string[] = []): string {
  const figures = values.length === 0 ? "" : ` | ${values.join(" ")}`;
  return `SIGNALBOX ${LEVELS[level].state} - ${clean(text).replaceAll("|", "/")}${figures}\n`;
}

/** Reports every error of a check as one line and exit code 3 with `--nagios`: Nagios accepts no other codes. */
export function reportErrorsToNagios<F extends CheckFlags>(execute: CommandExecutor<F>): CommandExecutor<F> {
  return async (call, io) => {
    try {
      return await execute(call, io);
    } catch (error) {
      const isKnown = error instanceof SignalboxError || error instanceof StoreError;
      if (!isKnown || !call.flags.nagios) throw error;
      io.writeOutput(formatNagiosText("unknown", error.message));
      return LEVELS.unknown.code;
    }
  };
}

/** Marks what the user accepts, warnings and failures that can be intended, and records which values of `--accept` matched no warning. */
export class AcceptedWarnings {
  readonly #words: readonly { text: string; id: string; check: string | undefined }[];
  readonly #used = new Set<string>();

  /** @param words  each is an id, or an id, `=` and the text before the colon of the warning */
  constructor(words: readonly string[]) {
    this.#words = words.map((text) => {
      const [, id = text, check] = /^([^=]*)=(.*)$/s.exec(text) ?? [];
      return { text, id, check };
    });
  }

  mark(findings: readonly Finding[]): Finding[] {
    return findings.map((finding) => {
      if (finding.level !== "warning" && !finding.canBeIntended) return finding;
      const words = this.#words.filter(
        ({ id, check = finding.check }) => id === getFindingId(finding) && check === finding.check,
      );
      for (const { text } of words) this.#used.add(text);
      return words.length === 0 ? finding : { ...finding, isAccepted: true };
    });
  }

  /** Lists values of `--accept` that matched nothing: a misspelled id, or a warning that no longer occurs. */
  listUnused(): Finding[] {
    const left = this.#words.filter(({ text }) => !this.#used.has(text));
    return left.map(({ text }) =>
      createFindingBuilder("accept", `--accept ${text}`).hint("matches no warning now"),
    );
  }
}
