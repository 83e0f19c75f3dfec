import { EXIT, SignalboxError, UsageError } from "../../base/errors.ts";
import { clean } from "../../base/text.ts";
import { changesBetween } from "../../fleet/changes.ts";
import { asDocumented, type ConfigDocument, documentText } from "../../fleet/document.ts";
import { parseDocument } from "../../fleet/document-reader.ts";
import { configurationOf, malformedIn } from "../../model/configuring/configuration.ts";
import { movedLines } from "../../model/configuring/text.ts";
import type { Picture } from "../../model/picture.ts";
import { runEditor } from "../../process/editor.ts";
import { reasonFlag } from "../flags.ts";
import { pictureOf } from "../look.ts";
import type { Call, Surroundings } from "../spec.ts";
import { type Desk, Interrupted, withStore } from "../with-store.ts";
import { CONFIG_ROOMS, IMPACT_ROOMS, totalCheck } from "./configured.ts";
import { Reconfiguration } from "./configuring.ts";
import { faultLines, withoutMark } from "./document-input.ts";
import { Sheet } from "./edit-sheet.ts";

export const execute = withStore(async (call, world, desk) => {
  if (!world.terminal.canAsk() && !call.flags.yes)
    throw new UsageError(
      "edit needs a terminal; in a script use export and import, or a program as EDITOR and --yes",
    );
  reasonFlag(call); // before anything is typed
  return await new Editing(call, world, desk).run();
});

/** What cannot be typed again must not be lost: the file goes only when what it says stands in etcd. */
class Editing {
  readonly #call: Call;
  readonly #world: Surroundings;
  readonly #desk: Desk;

  constructor(call: Call, world: Surroundings, desk: Desk) {
    this.#call = call;
    this.#world = world;
    this.#desk = { ...desk, signal: beyondCtrlC(desk.signal) };
  }

  async run(): Promise<number> {
    const picture = await pictureOf(this.#desk, [...CONFIG_ROOMS, "hosts"]);
    for (const { kind, name, fault } of malformedIn(picture))
      this.#say(`note: ${kind} ${name} cannot be read, is left out and stays as it is: ${fault}`);
    const sheet = new Sheet(documentText(configurationOf(picture), picture.revision));
    try {
      const { code, isSettled } = await this.#edit(sheet, picture);
      if (isSettled) sheet.discard();
      return code;
    } finally {
      if (sheet.isChanged) this.#tellKept(sheet);
      else sheet.discard();
    }
  }

  async #edit(sheet: Sheet, picture: Picture): Promise<{ code: number; isSettled: boolean }> {
    const document = await this.#typed(sheet, picture);
    if (typeof document === "number") return { code: document, isSettled: false };
    const now = await pictureOf(this.#desk, IMPACT_ROOMS);
    const moved = movedLines(picture, now, () => true);
    if (moved.length > 0) {
      this.#say("nothing was done, for the configuration has changed since it was opened:");
      for (const line of moved) this.#say(line);
      return { code: EXIT.changed, isSettled: false };
    }
    const before = configurationOf(picture);
    const { code, outcome } = await new Reconfiguration(this.#call, this.#world, this.#desk, {
      ...{ action: "edit", target: "configuration", picture: now, isBulk: true },
      changes: changesBetween(before, asDocumented(before, document, true)),
      nothing: "nothing was changed",
    }).run();
    return { code, isSettled: outcome === "done" || outcome === "nothing" };
  }

  /** What was typed, once it can be read; an exit code where that is not to be. */
  async #typed(sheet: Sheet, picture: Picture): Promise<ConfigDocument | number> {
    const { signal } = this.#desk;
    const { VISUAL, EDITOR } = this.#world.env;
    for (;;) {
      const end = await runEditor(VISUAL || EDITOR || "vi", sheet.path, signal);
      signal.throwIfAborted();
      if (!end.ok) throw new SignalboxError(EXIT.undone, `nothing was changed: ${end.why}`);
      const parsed = parseDocument(withoutMark(sheet.read()), totalCheck(this.#desk, picture));
      if ("value" in parsed) return parsed.value;
      for (const line of faultLines(sheet.path, parsed.faults)) this.#say(line);
      if (this.#call.flags.yes || !(await this.#wantsMore())) return EXIT.config;
    }
  }

  async #wantsMore(): Promise<boolean> {
    const answer = await this.#world.terminal.ask("Edit again? [Y/n] ");
    return answer !== undefined && !/^n/i.test(answer.trim());
  }

  #tellKept({ path }: Sheet): void {
    this.#say(`what you typed is kept in ${path}`);
    this.#say(`to look what it would change now: signalbox import --replace --dry-run ${path}`);
  }

  #say(line: string): void {
    if (this.#call.verbosity >= 0) this.#world.err(`signalbox: ${clean(line)}\n`);
  }
}

/** Ctrl+C in an editor is the editor's: it must not end us, who hold the text. Other signals do. */
function beyondCtrlC(signal: AbortSignal): AbortSignal {
  const stop = new AbortController();
  const relay = () => {
    const { reason } = signal;
    if (!(reason instanceof Interrupted) || reason.exitCode !== 130) stop.abort(reason);
  };
  signal.addEventListener("abort", relay);
  return stop.signal;
}
