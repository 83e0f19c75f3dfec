import { wrapProseLines } from "../../commands/see/detail.ts";
import {
  compareLines,
  formatEarlierFacts,
  formatKeyFacts,
  formatValueLines,
  listSubjectRanges,
} from "../../commands/see/format-raw.ts";
import type { CommandContext } from "../../commands/store-command.ts";
import { type RawKey, readEarlierValue, readRawKeys } from "../../observe/raw-keys.ts";
import type { KeyValue, RangeOp } from "../../protocol/txn.ts";
import type { ConsoleParts } from "../parts/console-parts.ts";
import { getChosenSubjects } from "../parts/marks.ts";
import { createSameRowCheck } from "../parts/navigation.ts";
import { BLANK_ROW } from "../parts/overlay.ts";
import { formatSubjectName } from "../parts/row-actions.ts";
import { createRow, type RowModel } from "../theme/cells.ts";
import type { Theme } from "../theme/theme.ts";
import { openText } from "./text-overlay.ts";

/** Shows the keys of the selected row as etcd has them, with their earlier values. */
export function openRaw(app: ConsoleParts): void {
  const [subject] = getChosenSubjects(app);
  const { keys } = app.context;
  const ranges = subject === undefined ? [] : listSubjectRanges(keys, subject, app.liveView.snapshot);
  if (subject === undefined || ranges.length === 0)
    return app.showToast("raw: this row has no key of its own", "problem", createSameRowCheck(app));
  const history = new RawHistory(app.context, ranges, () => app.notifyChange());
  openText(app, {
    title: `raw ${formatSubjectName(subject.kind === "record" ? (subject.about ?? subject) : subject)}`,
    buildRows: (width) => buildRawRows(app.theme, history, width),
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
}

function buildRawRows(theme: Theme, history: RawHistory, width: number): RowModel[] {
  const { entry, shown, before, position, fault, end } = history;
  const wrap = (lines: readonly string[], role?: RowModel["cells"][number]["role"]) =>
    wrapProseLines(lines, theme.createLook(width)).map((line) => createRow(line, role));
  if (fault !== undefined) return wrap([`cannot read the keys: ${fault}`], "problem");
  if (entry === undefined || shown === undefined)
    return wrap([history.isRead ? "etcd has no such key any more" : theme.signs.ellipsis], "quiet");
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
      const found = await readRawKeys(ports, ranges, { limit: MOST_KEYS, signal });
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
    this.#age = Math.max(0, Math.min(last, this.#age + by));
    this.#onChange();
    void this.#attempt(() => this.#readEarlier());
  }

  selectKey(by: 1 | -1): void {
    this.#key = Math.max(0, Math.min(this.#entries.length - 1, this.#key + by));
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
      const found = await readEarlierValue(this.#ports, last, this.#stop.signal);
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
      this.fault = error instanceof Error ? error.message : String(error);
    }
    this.#onChange();
  }

  close(): void {
    this.#stop.abort(new Error("the keys are no longer shown"));
  }
}
