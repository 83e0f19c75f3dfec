import { useEffect, useRef, useState } from "react";
import { formatLevelCounts, judgeFinding, LEVEL_WIDTH } from "../../cli/commands/check/findings.ts";
import { wrapText } from "../../cli/commands/see/grid.ts";
import { findPage } from "../../cli/views/problems.ts";
import type { Finding } from "../../core/base/finding.ts";
import { parseObject } from "../../core/base/parse-json.ts";
import { clean } from "../../core/base/text.ts";
import type { ConsoleApp } from "../console-app.ts";
import { getCommandById } from "../parts/row-actions.ts";
import { BLANK_ROW, createRow, joinCellTexts, padText, type RowModel } from "../theme/Row.tsx";
import { useListCursor, useOverlay } from "./OverlayFrame.tsx";
import { TextView } from "./output.tsx";
import { applyRemedy } from "./remedies.ts";

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
    const texts = buildReportRows(app, report, -1, COPIED_TEXT_COLUMNS).map(({ cells }) =>
      joinCellTexts(cells).trimEnd(),
    );
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

const COPIED_TEXT_COLUMNS = 110;
/** Maximum width of the column with the checks. */
const MAX_CHECK_COLUMNS = 34;

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
  const columns = { check: Math.min(MAX_CHECK_COLUMNS, widest), detail: 0 };
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
