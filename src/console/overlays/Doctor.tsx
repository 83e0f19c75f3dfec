import { useEffect, useRef, useState } from "react";
import type { Finding } from "../../base/finding.ts";
import { parseObject } from "../../base/parse-json.ts";
import { clean } from "../../base/text.ts";
import { formatLevelCounts, judgeFinding, LEVEL_WIDTH } from "../../commands/check/findings.ts";
import type { Command } from "../../commands/command.ts";
import { COMMANDS } from "../../commands/registry/registry.ts";
import { wrapText } from "../../commands/see/grid.ts";
import { findPage } from "../../views/problems.ts";
import type { ConsoleApp } from "../console-app.ts";
import { getChosenSubjects } from "../parts/marks.ts";
import { goTo } from "../parts/navigation.ts";
import { getCommandById, hasFlag } from "../parts/row-actions.ts";
import { TABS } from "../state/console-state.ts";
import { BLANK_ROW, createRow, joinCellTexts, padText, type RowModel } from "../theme/Row.tsx";
import { openRemedy } from "./Dialog.tsx";
import { parseWordList } from "./dialog-form.ts";
import { useListCursor, useOverlay } from "./OverlayFrame.tsx";
import { openOutput, TextView } from "./output.tsx";

/** Maximum number of schedules that are compared. With more, no key would be handled for too long. */
const MOST_SCHEDULES = 2_000;

/** Shows which schedules compete with the chosen ones, or with each other. Enter opens the form of a suggestion. */
export function openCollisions(app: ConsoleApp): void {
  if (app.liveView.snapshot.schedules.size > MOST_SCHEDULES)
    return app.showToast(`with over ${MOST_SCHEDULES} schedules: signalbox schedule lint --collisions`);
  const chosen = getChosenSubjects(app).flatMap(({ kind, name }) => (kind === "schedule" ? [name] : []));
  const findChoice = (text: string) => {
    const line = text.replace(/^ +(or: )?/, "");
    return parseRemedyLine(line) && (() => applyRemedy(app, line));
  };
  const words = ["--collisions", ...chosen];
  openOutput(app, getCommandById("schedule lint"), words, "collisions in the next 24 hours", findChoice);
}

/** The findings of doctor, as in its JSON. Without findings it has failed, and the lines say why. */
interface DoctorReport {
  findings?: readonly Finding[];
  /** Undefined until doctor has ended. */
  summary?: string;
  lines: readonly string[];
}

/** Checks etcd and this host, and shows the findings. Enter applies the remedy of the selected finding. */
export function Doctor() {
  const { app } = useOverlay();
  const [turn, setTurn] = useState(0);
  const [report, setReport] = useState<DoctorReport>();
  const { findings = [] } = report ?? {};
  const isMoved = useRef(false);
  const [at, move, setAt] = useListCursor(findings.length);
  useEffect(() => {
    const stop = new AbortController();
    const add = (more: readonly Finding[]) =>
      setReport((before) => ({ findings: [...(before?.findings ?? []), ...more], lines: [] }));
    void examine(app, stop.signal, add).then((read) => {
      if (stop.signal.aborted) return;
      setReport(read);
      if (turn === 0 && !isMoved.current) setAt(Math.max(0, read.findings?.findIndex(hasRemedy) ?? 0));
    });
    return () => stop.abort();
  }, [app, turn, setAt]);
  const moveByKey = (chord: string) => {
    isMoved.current = true;
    move(chord);
  };
  const repeat = () => {
    setReport(undefined);
    setTurn(turn + 1);
  };
  const runRemedy = () => {
    const finding = findings[at];
    if (finding?.remedy === undefined || !hasRemedy(finding))
      return app.showToast("there is no remedy to choose");
    applyRemedy(app, finding.remedy, repeat);
  };
  const copyAll = () => {
    const texts = buildReportRows(app, report, -1, COPIED).map(({ cells }) => joinCellTexts(cells).trimEnd());
    app.copy(texts.join("\n"), "the findings");
  };
  return (
    <TextView
      title="doctor"
      buildRows={(width) => buildReportRows(app, report, at, width)}
      onMove={moveByKey}
      keys={{ enter: runRemedy, r: repeat, y: copyAll }}
      hints={[
        ["Enter", "do what the remedy says"],
        ["r", "check again"],
        ["y", "copy"],
      ]}
      canExport
    />
  );
}

async function examine(
  app: ConsoleApp,
  signal: AbortSignal,
  add: (findings: readonly Finding[]) => void,
): Promise<DoctorReport> {
  const texts = { out: [] as string[], err: [] as string[] };
  const writeLine = (text: string, stream: "out" | "err") => void texts[stream].push(text);
  const reportFindings = (more: readonly Finding[]) => {
    if (!signal.aborted) add(more);
  };
  await app.jobs.perform(getCommandById("doctor"), ["--json"], { writeLine, reportFindings, signal });
  const lines = texts.err.map((text) => clean(text));
  return { ...parseObject(texts.out.join("\n")), lines };
}

function hasRemedy({ level, remedy }: Finding): boolean {
  return remedy !== undefined && level !== "ok";
}

/**
 * Opens the dialog of the command that a remedy names, runs one that only reads, or copies the text.
 * @param onDone  called when a confirmed command has ended
 */
function applyRemedy(app: ConsoleApp, remedy: string, onDone?: () => void): void {
  const line = parseRemedyLine(remedy);
  if (line === undefined) return app.copy(remedy, "the remedy");
  const { command, args, flags, words } = line;
  const tab = TABS.find((id) => command.id === "ls" && id === args[0]);
  if (tab !== undefined) {
    app.overlays.closeAll();
    goTo(app, tab, undefined);
  } else if (hasFlag(command, "dry-run")) openRemedy(app, { command: command.id, args, flags }, onDone);
  else openOutput(app, command, words, [command.id, ...words].join(" "));
}

/** Width of the copied text, columns. */
const COPIED = 110;
/** Maximum width of the column with the checks. */
const WIDEST = 34;

function buildReportRows(
  app: ConsoleApp,
  report: DoctorReport | undefined,
  at: number,
  width: number,
): RowModel[] {
  const checking = createRow(` checking${app.theme.signs.ellipsis}`, "quiet");
  if (report === undefined) return [checking];
  const { findings, summary, lines } = report;
  const faults = lines.map((text) => createRow(text, "problem"));
  if (findings === undefined) return faults;
  const widest = findings.reduce((most, { check }) => Math.max(most, clean(check).length), 0);
  const columns = { check: Math.min(WIDEST, widest), detail: 0 };
  columns.detail = Math.max(20, width - LEVEL_WIDTH - columns.check - 4);
  return [
    ...findings.flatMap((finding, index) => {
      const rows = buildFindingRows(app, finding, columns);
      return index === at ? rows.map((row) => ({ ...row, selection: "focused" as const })) : rows;
    }),
    BLANK_ROW,
    summary === undefined ? checking : createRow(` ${formatLevelCounts(findings) || clean(summary)}`),
    ...faults,
  ];
}

/** Builds the lines of a finding: its level, what was checked, the result, and below it the remedy. */
function buildFindingRows(
  app: ConsoleApp,
  finding: Finding,
  columns: { check: number; detail: number },
): RowModel[] {
  const { check, detail, remedy = "", kind } = finding;
  const { word, tone } = judgeFinding(finding);
  const checks = wrapText(clean(check), columns.check);
  const details = wrapText(clean(detail), columns.detail);
  const rows = Array.from(
    { length: Math.max(checks.length, details.length) },
    (_, line): RowModel => ({
      cells: [
        { text: padText(` ${line === 0 ? word : ""}`, LEVEL_WIDTH + 1), role: tone },
        { text: `${padText(checks[line] ?? "", columns.check)}  ` },
        { text: details[line] ?? "" },
      ],
    }),
  );
  if (!hasRemedy(finding)) return rows;
  const page = findPage(kind);
  const sign = `${app.theme.signs.arrow} `;
  const start = LEVEL_WIDTH + columns.check + 3 - sign.length;
  return [
    ...rows,
    ...wrapText(clean(remedy), columns.detail).map((text, line) => ({
      cells: [
        { text: padText("", start) },
        { text: line === 0 ? sign : padText("", sign.length), role: "quiet" as const },
        { text, role: "key" as const },
      ],
    })),
    ...(page === undefined ? [] : [createRow(padText("", start + sign.length) + page, "quiet")]),
  ];
}

/** A command line of signalbox that a remedy names, with its known arguments. */
interface RemedyLine {
  command: Command;
  args: readonly string[];
  flags: Readonly<Record<string, string | true>>;
  /** The words after the command's name. */
  words: readonly string[];
}

/** A line at the beginning of a remedy or at its end, up to the next sign that ends a clause. */
const LINE = /(?:^|: )signalbox ((?:'[^']*'|[^;,'])+)/;
/** A placeholder that the user fills in: `HOST`, `TOTAL`, `HOST…`. */
const PLACEHOLDER = /^(?:[A-Z]{3,}…?|…)$/;

/** Finds the command that a remedy names. Returns undefined for advice, and for lines of other programs. */
export function parseRemedyLine(remedy: string): RemedyLine | undefined {
  const given = parseWordList(LINE.exec(remedy)?.[1] ?? "").filter((word) => !PLACEHOLDER.test(word));
  const command =
    COMMANDS.find(({ id }) => id === given.slice(0, 2).join(" ")) ??
    COMMANDS.find(({ id }) => id === given[0]);
  if (command === undefined) return undefined;
  const words = given.slice(command.id.split(" ").length);
  const args: string[] = [];
  const flags: Record<string, string | true> = {};
  const left = words.values();
  for (const word of left) {
    const flag = command.flags?.find(({ name }) => word === `--${name}`);
    if (flag !== undefined) flags[flag.name] = flag.value === undefined || (left.next().value ?? "");
    else if (word.startsWith("--")) return undefined;
    else args.push(word);
  }
  const { args: known = [] } = command;
  const hasRoom = args.length <= known.length || known.at(-1)?.isRest === true;
  return hasRoom ? { command, args, flags, words } : undefined;
}
