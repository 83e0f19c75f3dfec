import { cleanToWidth } from "../../base/display-width.ts";
import { wrapProseLines } from "../../commands/see/detail.ts";
import {
  compareLines,
  formatEarlierFacts,
  formatKeyFacts,
  formatValueLines,
} from "../../commands/see/raw/format-raw.ts";
import { listSubjectRanges } from "../../commands/see/raw/subject-ranges.ts";
import { createSameRowCheck } from "../parts/focus.ts";
import { getChosenSubjects } from "../parts/marks.ts";
import type {
  ChangeNotifier,
  ClipboardAccess,
  OverlayAccess,
  SelectionAccess,
  SettingsAccess,
  ThemeAccess,
  ToastAccess,
} from "../parts/parts.ts";
import { formatSubjectName } from "../parts/row-action.ts";
import { createRow, type RowModel } from "../theme/cells.ts";
import { BLANK_ROW } from "./content-rows.ts";
import { RawHistory } from "./raw-history.ts";
import { TextOverlay } from "./text-overlay.ts";

type RawParts = ChangeNotifier &
  ClipboardAccess &
  OverlayAccess &
  SelectionAccess &
  SettingsAccess &
  ThemeAccess &
  ToastAccess;

/** Shows the keys of the selected row as etcd has them, with their earlier values. */
export function openRaw(app: RawParts): void {
  const [subject] = getChosenSubjects(app);
  const { keys } = app.context;
  const ranges = subject === undefined ? [] : listSubjectRanges(keys, subject, app.liveView.snapshot);
  if (subject === undefined || ranges.length === 0)
    return app.showToast("raw: this row has no key of its own", "problem", createSameRowCheck(app));
  const history = new RawHistory(app.context, ranges, () => app.notifyChange());
  const overlay: TextOverlay = new TextOverlay({
    title: cleanToWidth(
      `raw ${formatSubjectName(subject.kind === "record" ? (subject.about ?? subject) : subject)}`,
      60,
    ),
    buildRows: (width) => buildRawRows(app, history, width),
    close: () => app.overlays.close(overlay),
    onChange: () => app.notifyChange(),
    keys: {
      up: () => history.moveInTime(-1),
      down: () => history.moveInTime(1),
      left: () => history.selectKey(-1),
      right: () => history.selectKey(1),
      y: () => app.copy(history.shown?.value ?? "", "the value"),
    },
    hints: [
      ["↓↑", "earlier, later"],
      ["←→", "key"],
      ["y", "copy"],
    ],
    onClose: () => history.close(),
  });
  app.overlays.open(overlay);
}

function buildRawRows(app: ThemeAccess, history: RawHistory, width: number): RowModel[] {
  const { entry, shown, before, position, fault, end } = history;
  const wrap = (lines: readonly string[], role?: RowModel["cells"][number]["role"]) =>
    wrapProseLines(lines, app.theme.createLook(width)).map((line) => createRow(line, role));
  if (fault !== undefined) return wrap([`cannot read the keys: ${fault}`], "problem");
  if (entry === undefined || shown === undefined)
    return wrap([history.isRead ? "etcd has no such key any more" : app.theme.signs.ellipsis], "quiet");
  const lines = compareLines(before && formatValueLines(before.value), formatValueLines(shown.value));
  return [
    ...wrap([`${position.key + 1}/${position.keys}  ${formatValueLines(entry.key).join("")}`]),
    ...wrap(
      [shown === entry ? formatKeyFacts(entry) : `EARLIER VALUE: ${formatEarlierFacts(shown)}`],
      "quiet",
    ),
    BLANK_ROW,
    ...lines.flatMap(({ mark, text }) =>
      wrap([`${mark} ${text}`.trimEnd()], mark === " " ? undefined : mark === "+" ? "held" : "problem"),
    ),
    ...(end === undefined ? [] : [BLANK_ROW, ...wrap([end], "quiet")]),
    ...(history.hasMore ? wrap(["only the first keys are shown"], "quiet") : []),
  ];
}
