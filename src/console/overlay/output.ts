import { clean } from "../../base/text.ts";
import { proseLines } from "../../commands/see/detail.ts";
import type { Command } from "../../commands/spec.ts";
import { commandOf } from "../act/deed.ts";
import type { App } from "../app/app.ts";
import { jobState } from "../panel/pane.ts";
import { TextOverlay } from "./text.ts";

/** Why the selected one waits, or nobody gets the selected lock. */
export function openWhy(app: App): void {
  const subject = app.subject();
  const about = subject?.kind === "record" ? subject.about : subject;
  if (about === undefined || (about.kind !== "run" && about.kind !== "lock" && about.kind !== "resource"))
    return app.toast("why: choose a lock, a resource or who waits", "problem");
  openOutput(app, commandOf("why"), [about.name], `why ${about.name}`);
}

/** Runs a command that only looks, and shows what it says. */
export function openOutput(app: App, command: Command, words: readonly string[], title: string): void {
  const lines: string[] = [];
  const stop = new AbortController();
  let code: number | undefined;
  const overlay: TextOverlay = new TextOverlay({
    title: clean(title, 60),
    lines: (width) => {
      const shown = proseLines(lines, app.theme.look(width));
      return code === undefined
        ? [...shown, app.theme.style("quiet", app.theme.signs.ellipsis)]
        : shown.length > 0
          ? shown
          : ["(it says nothing)"];
    },
    close: () => app.overlays.close(overlay),
    onChange: () => app.changed(),
    keys: { y: () => app.copy(lines.join("\n"), "the text") },
    hints: [["y", "copy"]],
    onClose: () => stop.abort(),
  });
  app.overlays.open(overlay);
  const line = (text: string) => {
    lines.push(clean(text).replace(/^signalbox: /, ""));
    app.changed();
  };
  void app.jobs.perform(command, words, { line, signal: stop.signal }).then((result) => {
    code = result;
    app.changed();
  });
}

/** All that a job has said. */
export function openJob(app: App, id: number): void {
  const jobOf = () => app.jobs.list.find((job) => job.id === id);
  const overlay: TextOverlay = new TextOverlay({
    title: clean(jobOf()?.title ?? "", 60),
    lines: (width) => {
      const job = jobOf();
      if (job === undefined) return [];
      const { text, role } = jobState(job);
      const look = app.theme.look(width);
      return [
        app.theme.style(role, text.trim()),
        "",
        ...proseLines(job.lines, look),
        "",
        app.theme.style("quiet", "the same from a shell:"),
        ...proseLines([job.line], look),
      ];
    },
    close: () => app.overlays.close(overlay),
    onChange: () => app.changed(),
    keys: {
      c: () => app.copy(jobOf()?.line ?? "", "the command line"),
      x: () => app.jobs.interrupt(id),
    },
    hints: [
      ["c", "copy the command"],
      ["x", "stop waiting"],
    ],
  });
  app.overlays.open(overlay);
}
