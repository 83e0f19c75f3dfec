import { EXIT, SignalboxError } from "../../base/errors.ts";
import { type Finding, type Level, worst } from "../../base/finding.ts";
import { clean } from "../../base/text.ts";
import { StoreError } from "../../etcd/store.ts";
import type { Tone } from "../../model/tables/view.ts";
import { lookOf, painted } from "../see/paint.ts";
import type { Execute, Flag, Surroundings } from "../spec.ts";
import { json } from "../table.ts";

/** Flags of every command that checks something. */
export const CHECKING: readonly Flag[] = [
  { name: "json", help: "as JSON" },
  {
    name: "nagios",
    help: "one line and exit codes for Nagios and its like (0, 1, 2; 3: it could not be checked)",
  },
];

/** A figure for monitoring. */
export interface Figure {
  name: string;
  value: number;
  /** `B` bytes, `ms`; none for a count. */
  unit?: "B" | "ms";
  warning?: number;
  critical?: number;
}

/** What a check came to. */
export interface Report {
  findings: readonly Finding[];
  figures: readonly Figure[];
  /** What there is to say where nothing is wrong: `3 of 3 members, 1,204 keys`. */
  summary: string;
  /** What the findings are true at, where they are about etcd. */
  revision?: bigint | undefined;
}

const MARKS: Record<Level, string> = {
  ...{ ok: "ok      ", hint: "hint    ", warning: "warning ", unknown: "UNKNOWN ", failure: "FAILURE " },
};
const TONES: Record<Level, Tone> = {
  ...{ ok: "held", hint: "quiet", warning: "waiting", unknown: "problem", failure: "problem" },
};
const STATES: Record<Level, { word: string; code: number }> = {
  ...{ ok: { word: "OK", code: 0 }, hint: { word: "OK", code: 0 }, warning: { word: "WARNING", code: 1 } },
  ...{ unknown: { word: "UNKNOWN", code: 3 }, failure: { word: "CRITICAL", code: 2 } },
};

/** A finding for people: what stands how, and below it what to do. */
export function findingLines({ check, level, detail, remedy }: Finding, world: Surroundings): string {
  const mark = painted(MARKS[level], TONES[level], lookOf(world, { ascii: false, wide: true }));
  const advice = remedy === undefined || level === "ok" ? "" : `\n        ${clean(remedy)}`;
  return `${mark}${clean(check)}: ${clean(detail)}${advice}\n`;
}

/**
 * What a check came to, whole, in the form that was asked for.
 * @returns the exit code: 0 fine, 1 warnings, 2 failures; where something could not be checked 69, for Nagios 3
 */
export function conclude(
  report: Report,
  flags: Readonly<Record<string, unknown>>,
  world: Surroundings,
): number {
  const level = worst(report.findings.map((finding) => finding.level));
  if (flags.nagios) world.out(nagiosLine(report, level));
  else if (flags.json) world.out(document(report, level));
  else world.out(`${counts(report, level)}\n`);
  if (level === "unknown" && !flags.nagios) return EXIT.unreachable;
  return STATES[level].code;
}

function document({ revision, findings, figures, summary }: Report, level: Level): string {
  const state = STATES[level].word.toLowerCase();
  const values = Object.fromEntries(figures.map(({ name, value }) => [name, value]));
  return json({ ...(revision !== undefined && { revision }), state, summary, findings, figures: values });
}

/** `2 failures, 1 warning`, or what is fine. */
function counts({ findings, summary }: Report, level: Level): string {
  if (STATES[level].code === 0) return `fine: ${clean(summary)}`;
  return countsOf(findings);
}

function countsOf(findings: readonly Finding[]): string {
  const words: [Level, string, string][] = [
    ["failure", "failure", "failures"],
    ["unknown", "thing that could not be checked", "things that could not be checked"],
    ["warning", "warning", "warnings"],
  ];
  return words
    .map(([level, one, many]) => [findings.filter((it) => it.level === level).length, one, many] as const)
    .filter(([count]) => count > 0)
    .map(([count, one, many]) => `${count} ${count === 1 ? one : many}`)
    .join(", ");
}

/** Findings that a line names; of more, only how many they are. */
const NAMED = 3;

/** @see https://nagios-plugins.org/doc/guidelines.html: text, a bar, figures as `name=value[unit];warning;critical` */
function nagiosLine({ findings, figures, summary }: Report, level: Level): string {
  const bad = findings
    .filter((finding) => STATES[finding.level].code > 0)
    .sort((a, b) => Number(b.level === "failure") - Number(a.level === "failure"));
  const named = bad.slice(0, NAMED).map(({ check, detail }) => `${check}: ${detail}`);
  const more = bad.length > NAMED ? [`and ${bad.length - NAMED} more`] : [];
  const text = bad.length === 0 ? summary : `${countsOf(findings)}: ${[...named, ...more].join("; ")}`;
  const values = figures.map(({ name, value, unit = "", warning, critical }) => {
    const limits = [warning ?? "", critical ?? ""].join(";").replace(/;+$/, "");
    return `${name}=${value}${unit}${limits === "" ? "" : `;${limits}`}`;
  });
  return nagiosText(level, text, values);
}

/** A bar would begin the figures. */
function nagiosText(level: Level, text: string, values: readonly string[] = []): string {
  const figures = values.length === 0 ? "" : ` | ${values.join(" ")}`;
  return `SIGNALBOX ${STATES[level].word} - ${clean(text).replaceAll("|", "/")}${figures}\n`;
}

/** For monitoring, whatever stops a check is a line and the code 3: it knows no others. */
export function tellingNagios(execute: Execute): Execute {
  return async (call, world) => {
    try {
      return await execute(call, world);
    } catch (error) {
      const isKnown = error instanceof SignalboxError || error instanceof StoreError;
      if (!isKnown || !call.flags.nagios) throw error;
      world.out(nagiosText("unknown", error.message));
      return STATES.unknown.code;
    }
  };
}
