import { cleanToWidth } from "../../../base/display-width.ts";
import { clean } from "../../../base/text.ts";
import { wrapProseLines } from "../../../commands/see/detail.ts";
import type { RunBar } from "../../../model/insight/timeline-bars.ts";
import type { ClockAccess, DialogPorts } from "../../parts/parts.ts";
import { createRow } from "../../theme/cells.ts";
import { openTarget } from "../dialog/target.ts";
import { TextOverlay } from "../text-overlay.ts";
import { describeRun, listRunFacts } from "./timeline-rows.ts";

/** What is stored of the end of a run. */
export interface RunEnd {
  code?: number;
  reason?: string;
  tail?: string;
}

/** Opens the details of a run that goes on, or the facts and the stored output of one that has ended. */
export function openRunBar(app: ClockAccess & DialogPorts, bar: RunBar, outcome: RunEnd | undefined): void {
  const [kind, name] = splitSubject(bar.subject);
  const title = `run ${bar.run}`;
  if (bar.until === undefined && (kind === "lock" || kind === "resource"))
    return openTarget(app, { title, subject: { kind: "run", name: bar.run, queue: { kind, name } } });
  const history = kind === "lock" ? app.liveView.snapshot.histories.get(name) : undefined;
  const end = outcome ?? history?.find(({ run }) => run === bar.run);
  const overlay: TextOverlay = new TextOverlay({
    title: cleanToWidth(title, 60),
    buildRows: (width) => {
      const lines = [describeRun(bar), ...listRunFacts(bar, app.getShownTime()), ...listEndLines(bar, end)];
      return wrapProseLines(
        lines.map((line) => clean(line)),
        app.theme.createLook(width),
      ).map((line) => createRow(line));
    },
    close: () => app.overlays.close(overlay),
    onChange: () => app.notifyChange(),
  });
  app.overlays.open(overlay);
}

function listEndLines({ until }: RunBar, { code, reason, tail }: RunEnd = {}): string[] {
  const output = tail === undefined ? ["its output is not stored"] : ["", ...tail.split("\n")];
  return [
    ...(code === undefined ? [] : [`exit code ${code}`]),
    ...(reason === undefined ? [] : [reason]),
    ...(until === undefined ? [] : output),
  ];
}

function splitSubject(subject: string): [kind: string, name: string] {
  const at = subject.indexOf(" ");
  return [subject.slice(0, at), subject.slice(at + 1)];
}
