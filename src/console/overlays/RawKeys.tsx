import { useEffect, useState } from "react";
import { formatBytesLines } from "../../cli/commands/etcd/key-text.ts";
import {
  compareLines,
  formatEarlierFacts,
  formatKeyFacts,
  listSubjectRanges,
} from "../../cli/commands/see/show-raw.ts";
import { decodeUtf8, formatKey } from "../../core/base/bytes.ts";
import { getErrorMessage } from "../../core/base/errors.ts";
import type { KeyValue, RangeOp } from "../../core/protocol/txn.ts";
import { readEarlierValue, readRawKeys } from "../../site/observe/raw-keys.ts";
import type { ConsoleApp } from "../console-app.ts";
import { getChosenSubjects } from "../parts/marks.ts";
import { refuseForRow } from "../parts/navigation.ts";
import { formatSubjectName } from "../parts/row-actions.ts";
import { clamp } from "../state/cursor.ts";
import type { StyleRole } from "../theme/palettes.ts";
import { BLANK_ROW, type RowModel, wrapRows } from "../theme/Row.tsx";
import { useOverlay } from "./OverlayFrame.tsx";
import { TextView } from "./output.tsx";

/** Shows the raw keys of the selected row in etcd, with their earlier values. */
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
}

/** Earlier values of a key, the newest first, and why there are no more. */
interface EarlierValues {
  values: readonly KeyValue[];
  end?: keyof typeof ENDS;
}

const ENDS = {
  created: "this is its first value",
  compacted: "etcd has compacted the values before this one",
};

/** Maximum number of keys. */
const MOST_KEYS = 200;

/** Raw keys in etcd, one at a time, with their earlier values, each read on demand. */
export function RawKeys({ title, ranges }: RawKeysProps) {
  const { app } = useOverlay();
  const [found, setFound] = useState<Awaited<ReturnType<typeof readRawKeys>>>();
  const [earlier, setEarlier] = useState<ReadonlyMap<string, EarlierValues>>(new Map());
  const [fault, setFault] = useState<string>();
  const [{ key, age }, setPlace] = useState({ key: 0, age: 0 });
  const { entries = [], hasMore = false } = found ?? {};
  const entry = entries[key];
  const { values: before = [], end } = earlier.get(entry?.key ?? "") ?? {};
  const values = entry === undefined ? [] : [entry, ...before];
  const shown = values[age];
  const oldest = values.at(-1);
  /** Reads until the next effect. Faults are shown. */
  const read = (work: (signal: AbortSignal) => Promise<void>) => {
    const stop = new AbortController();
    const report = (error: unknown) => stop.signal.aborted || setFault(getErrorMessage(error));
    void work(stop.signal).catch(report);
    return () => stop.abort(new Error("the keys are no longer shown"));
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: `read` is a new function for every frame
  useEffect(
    () =>
      read(async (signal) => {
        const binary = ranges.map((range) => ({ ...range, binaryValues: true }));
        setFound(await readRawKeys(app.context, binary, { limit: MOST_KEYS, signal }));
      }),
    [app, ranges],
  );
  const isMissing = end === undefined && age === values.length - 1;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the same
  useEffect(() => {
    if (oldest === undefined || !isMissing) return undefined;
    return read(async (signal) => {
      const next = await readEarlierValue(app.context, oldest, signal, true);
      const known = "end" in next ? { values: before, end: next.end } : { values: [...before, next.kv] };
      setEarlier((all) => new Map(all).set(oldest.key, known));
    });
  }, [app, oldest, isMissing]);
  const moveInTime = (by: 1 | -1) => () => setPlace({ key, age: clamp(age + by, 0, values.length - 1) });
  const selectKey = (by: 1 | -1) => () => setPlace({ key: clamp(key + by, 0, entries.length - 1), age: 0 });
  const buildRows = (width: number): RowModel[] => {
    const wrap = (lines: readonly string[], role?: StyleRole) => wrapRows(app.theme, lines, width, role);
    if (fault !== undefined) return wrap([`cannot read the keys: ${fault}`], "problem");
    if (entry === undefined || shown === undefined)
      return wrap([found ? "etcd has no such key any more" : app.theme.signs.ellipsis], "quiet");
    const previous = values[age + 1];
    const lines = compareLines(previous && formatBytesLines(previous.value), formatBytesLines(shown.value));
    const facts = shown === entry ? formatKeyFacts(entry) : `EARLIER VALUE: ${formatEarlierFacts(shown)}`;
    return [
      ...wrap([`${key + 1}/${entries.length}  ${formatKey(entry.key)}`]),
      ...wrap([facts], "quiet"),
      BLANK_ROW,
      ...lines.flatMap(({ mark, text }) =>
        wrap([`${mark} ${text}`.trimEnd()], mark === " " ? undefined : mark === "+" ? "held" : "problem"),
      ),
      ...(end === undefined || previous !== undefined ? [] : [BLANK_ROW, ...wrap([ENDS[end]], "quiet")]),
      ...(hasMore ? wrap(["only the first keys are shown"], "quiet") : []),
    ];
  };
  return (
    <TextView
      title={title}
      buildRows={buildRows}
      keys={{
        up: moveInTime(-1),
        down: moveInTime(1),
        left: selectKey(-1),
        right: selectKey(1),
        y: () => copyBinaryText(app, shown?.value ?? "", "the value"),
      }}
      hints={[
        ["↓↑", "earlier, later"],
        ["←→", "key"],
        ["y", "copy"],
      ]}
    />
  );
}

/** Copies bytes as text, or in base64 if they are not UTF-8. @param bytes  a binary string */
export function copyBinaryText(app: ConsoleApp, bytes: string, what: string): void {
  const text = decodeUtf8(bytes);
  app.copy(text ?? btoa(bytes), text === undefined ? `${what} in base64` : what);
}
