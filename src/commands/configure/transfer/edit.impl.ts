import { EXIT, SignalboxError, UsageError } from "../../../base/errors.ts";
import { clean } from "../../../base/text.ts";
import { computeConfigChanges } from "../../../fleet/config-changes.ts";
import {
  applyConfigDocument,
  type ConfigDocument,
  formatConfigDocument,
} from "../../../fleet/config-document.ts";
import { parseConfigDocument } from "../../../fleet/config-document-parser.ts";
import { buildConfiguration, listMalformedConfig } from "../../../model/config-impact/configuration.ts";
import { formatConfigChanges } from "../../../model/config-impact/impact-text.ts";
import type { Snapshot } from "../../../model/snapshot/snapshot.ts";
import { runEditor } from "../../../process/editor.ts";
import { parseReasonFlag } from "../../command-line/flags.ts";
import { ignoreCtrlC } from "../../ignore-ctrl-c.ts";
import { readSnapshot } from "../../read-snapshot.ts";
import type { Call, CommandIo } from "../../spec.ts";
import { type CommandContext, createStoreCommand } from "../../store-command.ts";
import { ConfigChangeCommand } from "../config-change-command.ts";
import { CONFIG_COLLECTIONS, createTotalCheck, IMPACT_COLLECTIONS } from "../config-snapshot.ts";
import { formatFaultLines, removeByteOrderMark } from "../document-input.ts";
import { EditorFile } from "../editor-file.ts";

export const execute = createStoreCommand(async (call, io, context) => {
  if (!io.terminal.canAsk() && !call.flags.yes)
    throw new UsageError(
      "edit needs a terminal; in a script use export and import, or set EDITOR to a program and add --yes",
    );
  parseReasonFlag(call); // check it before the user types anything
  return await new EditCommand(call, io, context).run();
});

/**
 * Runs the editor and applies the result. The file with the user's text is deleted only after its content is stored in
 * etcd.
 */
class EditCommand {
  readonly #call: Call;
  readonly #io: CommandIo;
  readonly #context: CommandContext;

  constructor(call: Call, io: CommandIo, context: CommandContext) {
    this.#call = call;
    this.#io = io;
    this.#context = { ...context, signal: ignoreCtrlC(context.signal) };
  }

  async run(): Promise<number> {
    const snapshot = await readSnapshot(this.#context, [...CONFIG_COLLECTIONS, "hosts"]);
    for (const { kind, name, fault } of listMalformedConfig(snapshot))
      this.#printLine(`note: ${kind} ${name} cannot be read; it is left out and not changed: ${fault}`);
    const sheet = new EditorFile(formatConfigDocument(buildConfiguration(snapshot), snapshot.revision));
    try {
      const { code, isSettled } = await this.#edit(sheet, snapshot);
      if (isSettled) sheet.discard();
      return code;
    } finally {
      if (sheet.isChanged) this.#printKept(sheet);
      else sheet.discard();
    }
  }

  async #edit(sheet: EditorFile, snapshot: Snapshot): Promise<{ code: number; isSettled: boolean }> {
    const document = await this.#readEdited(sheet, snapshot);
    if (typeof document === "number") return { code: document, isSettled: false };
    const now = await readSnapshot(this.#context, IMPACT_COLLECTIONS);
    const moved = formatConfigChanges(snapshot, now, () => true);
    if (moved.length > 0) {
      this.#printLine("nothing was done, because the configuration has changed since it was opened:");
      for (const line of moved) this.#printLine(line);
      return { code: EXIT.changed, isSettled: false };
    }
    const before = buildConfiguration(snapshot);
    const { code, outcome } = await new ConfigChangeCommand(this.#call, this.#io, this.#context, {
      ...{ action: "edit", target: "configuration", snapshot: now, isBulk: true },
      changes: computeConfigChanges(before, applyConfigDocument(before, document, true)),
      nothing: "nothing was changed",
    }).run();
    return { code, isSettled: outcome === "done" || outcome === "nothing" };
  }

  /**
   * Opens the editor until its text can be parsed.
   * @returns the document; an exit code if the user gives up
   */
  async #readEdited(sheet: EditorFile, snapshot: Snapshot): Promise<ConfigDocument | number> {
    const { signal } = this.#context;
    const { VISUAL, EDITOR } = this.#io.env;
    for (;;) {
      const end = await runEditor(VISUAL || EDITOR || "vi", sheet.path, signal);
      signal.throwIfAborted();
      if (!end.ok) throw new SignalboxError(EXIT.undone, `nothing was changed: ${end.why}`);
      const parsed = parseConfigDocument(
        removeByteOrderMark(sheet.read()),
        createTotalCheck(this.#context, snapshot),
      );
      if ("value" in parsed) return parsed.value;
      for (const line of formatFaultLines(sheet.path, parsed.faults)) this.#printLine(line);
      if (this.#call.flags.yes || !(await this.#askEditAgain())) return EXIT.config;
    }
  }

  async #askEditAgain(): Promise<boolean> {
    const answer = await this.#io.terminal.ask("Edit again? [Y/n] ");
    return answer !== undefined && !/^n/i.test(answer.trim());
  }

  #printKept({ path }: EditorFile): void {
    this.#printLine(`your text is kept in ${path}`);
    this.#printLine(`to see what it would change now: signalbox import --replace --dry-run ${path}`);
  }

  #printLine(line: string): void {
    if (this.#call.verbosity >= 0) this.#io.writeError(`signalbox: ${clean(line)}\n`);
  }
}
