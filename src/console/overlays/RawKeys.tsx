import { useEffect, useState } from "react";
import { decodeUtf8, formatKey } from "../../base/bytes.ts";
import { getErrorMessage } from "../../base/errors.ts";
import { formatBytesLines } from "../../commands/etcd/key-text.ts";
import {
  compareLines,
  formatEarlierFacts,
  formatKeyFacts,
  listSubjectRanges,
} from "../../commands/see/format-raw.ts";
import type { CommandContext } from "../../commands/store-command.ts";
import { readKey } from "../../observe/etcd-keys.ts";
import { type RawKey, readEarlierValue, readRawKeys } from "../../observe/raw-keys.ts";
import type { KeyValue, RangeOp } from "../../protocol/txn.ts";
import { describeOwnKey } from "../../views/own-keys.ts";
import type { ConsoleApp } from "../console-app.ts";
import { getChosenSubjects } from "../parts/marks.ts";
import { refuseForRow } from "../parts/navigation.ts";
import { discardStored, editDraft, VALUE_FILE } from "../parts/programs.ts";
import {
  findChangeObstacle,
  formatSubjectName,
  getCommandById,
  type RowAction,
} from "../parts/row-actions.ts";
import { clamp } from "../state/cursor.ts";
import type { StyleRole } from "../theme/palettes.ts";
import { BLANK_ROW, type RowModel, wrapRows } from "../theme/Row.tsx";
import type { Theme } from "../theme/theme.ts";
import { openDialog } from "./Dialog.tsx";
import { useOverlay } from "./OverlayFrame.tsx";
import { TextView } from "./output.tsx";

/** Shows the keys of the selected row as etcd has them, with their earlier values. */
export function openRaw(app: ConsoleApp): void {
  const [subject] = getChosenSubjects(app);
  const { keys } = app.context;
  const ranges = subject === undefined ? [] : listSubjectRanges(keys, subject, app.liveView.snapshot);
  if (subject === undefined || ranges.length === 0)
    return refuseForRow(app, "raw: this row has no key of its own");
  const name = formatSubjectName(subject);
  app.overlays.open(<RawKeys title={`raw ${name}`} ranges={ranges} />);
}

interface RawKeysProps {
  title: string;
  ranges: readonly RangeOp[];
  /** Called when the user has changed a key. Without it none can be edited. */
  onEdited?: () => void;
}

/** Keys as etcd has them, one at a time, with their earlier values. */
export function RawKeys({ title, ranges, onEdited }: RawKeysProps) {
  const { app, close } = useOverlay();
  const [history] = useState(() => new RawHistory(app.context, ranges, () => app.notifyChange()));
  useEffect(() => () => history.close(), [history]);
  const edit = () => {
    const { entry } = history;
    if (entry === undefined || onEdited === undefined) return;
    close(); // the value that it shows is then an earlier one
    void editValue(app, entry.key, onEdited);
  };
  return (
    <TextView
      title={title}
      buildRows={(width) => buildRawRows(app.theme, history, width)}
      keys={{
        up: () => history.moveInTime(-1),
        down: () => history.moveInTime(1),
        left: () => history.selectKey(-1),
        right: () => history.selectKey(1),
        y: () => copyBinaryText(app, history.shown?.value ?? "", "the value"),
        ...(onEdited && { e: edit }),
      }}
      hints={[["↓↑", "earlier, later"], ["←→", "key"], ["y", "copy"], onEdited && ["e", "edit"]]}
    />
  );
}

/** Copies bytes as text, or in base64 if they are not UTF-8. @param bytes  a binary string */
export function copyBinaryText(app: ConsoleApp, bytes: string, what: string): void {
  const text = decodeUtf8(bytes);
  app.copy(text ?? btoa(bytes), text === undefined ? `${what} in base64` : what);
}

function buildRawRows(theme: Theme, history: RawHistory, width: number): RowModel[] {
  const { entry, shown, before, position, fault, end } = history;
  const wrap = (lines: readonly string[], role?: StyleRole) => wrapRows(theme, lines, width, role);
  if (fault !== undefined) return wrap([`cannot read the keys: ${fault}`], "problem");
  if (entry === undefined || shown === undefined)
    return wrap([history.isRead ? "etcd has no such key any more" : theme.signs.ellipsis], "quiet");
  const lines = compareLines(before && formatBytesLines(before.value), formatBytesLines(shown.value));
  return [
    ...wrap([`${position.key + 1}/${position.keys}  ${formatKey(entry.key)}`]),
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

/** Maximum number of keys. */
const MOST_KEYS = 200;

/** The values of a key that were read, the newest first. */
interface ReadValues {
  values: KeyValue[];
  /** Why there are no earlier values. */
  end: "created" | "compacted" | undefined;
  isReading: boolean;
}

/** Keys of one subject and their earlier values, read when they are asked for. Never throws: faults are shown. */
class RawHistory {
  readonly #ports: Pick<CommandContext, "store">;
  readonly #onChange: () => void;
  readonly #stop = new AbortController();
  #entries: readonly RawKey[] = [];
  #read = new Map<string, ReadValues>();
  #key = 0;
  #age = 0;
  isRead = false;
  hasMore = false;
  fault: string | undefined;

  constructor(ports: Pick<CommandContext, "store">, ranges: readonly RangeOp[], onChange: () => void) {
    this.#ports = ports;
    this.#onChange = onChange;
    void this.#attempt(async (signal) => {
      const found = await readRawKeys(
        ports,
        ranges.map((range) => ({ ...range, binaryValues: true })),
        { limit: MOST_KEYS, signal },
      );
      this.#entries = found.entries;
      this.hasMore = found.hasMore;
      this.isRead = true;
      await this.#readEarlier();
    });
  }

  /** The selected key, as it is now. */
  get entry(): RawKey | undefined {
    return this.#entries[this.#key];
  }

  /** The value that is shown. */
  get shown(): KeyValue | undefined {
    return this.#age === 0 ? this.entry : this.#values.values[this.#age];
  }

  /** The value before the one that is shown, if it was read. */
  get before(): KeyValue | undefined {
    return this.#values.values[this.#age + 1];
  }

  get position(): { key: number; keys: number } {
    return { key: this.#key, keys: this.#entries.length };
  }

  /** Why there is nothing before the value that is shown. */
  get end(): string | undefined {
    const { values, end } = this.#values;
    if (end === undefined || this.#age < values.length - 1) return undefined;
    return end === "created" ? "this is its first value" : "etcd has compacted the values before this one";
  }

  /** Goes to the value before (1) or after (-1) the one that is shown. */
  moveInTime(by: 1 | -1): void {
    const last = this.#values.values.length - 1;
    this.#age = clamp(this.#age + by, 0, last);
    this.#onChange();
    void this.#attempt(() => this.#readEarlier());
  }

  selectKey(by: 1 | -1): void {
    this.#key = clamp(this.#key + by, 0, this.#entries.length - 1);
    this.#age = 0;
    this.#onChange();
    void this.#attempt(() => this.#readEarlier());
  }

  get #values(): ReadValues {
    const { entry } = this;
    const known = this.#read.get(entry?.key ?? "");
    if (known !== undefined) return known;
    const values: ReadValues = {
      values: entry === undefined ? [] : [entry],
      end: undefined,
      isReading: false,
    };
    if (entry !== undefined) this.#read.set(entry.key, values);
    return values;
  }

  /** Reads the value before the one that is shown, so that the difference can be shown. */
  async #readEarlier(): Promise<void> {
    const known = this.#values;
    const last = known.values.at(-1);
    if (last === undefined || known.end !== undefined || known.isReading) return;
    if (known.values.length > this.#age + 1) return;
    known.isReading = true;
    try {
      const found = await readEarlierValue(this.#ports, last, this.#stop.signal, true);
      if ("end" in found) known.end = found.end;
      else known.values.push(found.kv);
    } finally {
      known.isReading = false;
    }
  }

  async #attempt(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const { signal } = this.#stop;
    try {
      await work(signal);
    } catch (error) {
      if (signal.aborted) return;
      this.fault = getErrorMessage(error);
    }
    this.#onChange();
  }

  close(): void {
    this.#stop.abort(new Error("the keys are no longer shown"));
  }
}

/** Time for the read before an edit, ms. */
const READ_TIMEOUT = 5_000;

/** Returns why a key cannot be changed now. @param key  or the beginning of a new one */
function findEditObstacle(app: ConsoleApp, key: string): string | undefined {
  const obstacle = findChangeObstacle(app);
  if (obstacle !== undefined) return obstacle;
  const own = describeOwnKey(app.context.keys, key);
  if (own !== undefined) return `a key of signalbox; changed by: ${own.changedBy}`;
  return app.context.settings.allowEdit
    ? undefined
    : "not allowed here: set allowEdit in the context, or use --allow-edit";
}

/** Whether a key can be changed now; if not, shows why. */
function canEdit(app: ConsoleApp, key: string): boolean {
  const obstacle = findEditObstacle(app, key);
  if (obstacle !== undefined) app.showToast(obstacle, "problem");
  return obstacle === undefined;
}

/** Fills in a command for one key. Keys that are not text are written in base64. */
function buildKeyAction(id: "etcd put" | "etcd del", key: string, flags: RowAction["flags"]): RowAction {
  const text = decodeUtf8(key);
  const isText = text !== undefined && !text.includes("\0");
  return {
    command: getCommandById(id),
    args: [isText ? text : btoa(key)],
    flags: { ...flags, ...(!isText && { base64: true as const }) },
    target: formatKey(key),
  };
}

/** Opens the dialog that deletes a key. @param onDone  called when the confirmed command has ended */
export function openDeleteKey(app: ConsoleApp, key: string, onDone: () => void): void {
  if (canEdit(app, key)) openDialog(app, [buildKeyAction("etcd del", key, {})], onDone);
}

/** Opens the dialog that creates a key. @param prefix  with which its name begins */
export function openCreateKey(app: ConsoleApp, prefix: string, onDone: () => void): void {
  if (!canEdit(app, prefix)) return;
  openDialog(app, [{ ...buildKeyAction("etcd put", prefix, {}), fixed: 0, target: "a new key" }], onDone);
}

/**
 * Opens the value of a key in the user's editor, and what the user writes in the dialog of `etcd put`. It is bound to the revision at which the
 * value was read before, so a value that changes meanwhile is not overwritten. A text that was not stored is kept, and opened again the next time.
 */
export async function editValue(app: ConsoleApp, key: string, onDone: () => void): Promise<void> {
  if (!canEdit(app, key)) return;
  const target = `key ${formatKey(key)}`;
  const read = await readText(app, key);
  if (read === undefined) return;
  const sheet = await editDraft(app, target, { text: read.text, name: VALUE_FILE, key: "e" });
  if (sheet === undefined) return;
  const flags = { file: sheet.path, "expect-revision": String(read.revision) };
  const action = buildKeyAction("etcd put", key, flags);
  openDialog(app, [{ ...action, fixed: 2 }], (jobs) => {
    discardStored(app, target, jobs);
    onDone();
  });
}

/** Reads the value of a key as text. @returns undefined if that is not possible; shows why */
async function readText(
  app: ConsoleApp,
  key: string,
): Promise<{ revision: bigint; text: string } | undefined> {
  const signal = AbortSignal.any([app.context.signal, AbortSignal.timeout(READ_TIMEOUT)]);
  try {
    const { revision, kv } = await readKey(app.context, key, undefined, signal);
    const text = kv && decodeUtf8(kv.value);
    if (text !== undefined) return { revision, text };
    app.showToast(
      kv === undefined ? "there is no such key any more" : "binary: use signalbox etcd put KEY --file FILE",
      "problem",
    );
  } catch (error) {
    app.showToast(`cannot read the key: ${getErrorMessage(error)}`, "problem");
  }
  return undefined;
}
