import { addMs, NO_LONGER_NEEDED, subtractTime } from "../../core/base/clock.ts";
import { generateRunId, generateSessionId } from "../../core/base/ids.ts";
import { grantOnce } from "../../core/etcd/session/session.ts";
import { waitForChange } from "../../core/etcd/wait-for-change.ts";
import {
  formatOutputRequest,
  type OutputChunk,
  type OutputRequest,
  parseOutputChunk,
} from "../../core/protocol/output.ts";
import { commitWithRetries, type ObserverPorts, readWithRetries } from "../observe/ports.ts";
import { decodeRecords, type OutputRecord } from "./output-record.ts";

/** Time to live of a viewer's session, s, and the interval of renewals, ms. */
const VIEWER_TTL_S = 15;
const RENEWAL_INTERVAL_MS = 4_000;
/** How long to wait for the first answer, ms, and how often to look whether the run still exists. */
const FIRST_ANSWER = 5_000;
const LOOK_EVERY = 5_000;

/** Output as it arrives. `isSilent`: the host does not answer, or not any more. */
interface ViewedOutput {
  records: OutputRecord[];
  skipped: number;
  isSilent: boolean;
}

interface OutputViewerOptions extends Omit<OutputRequest, "read"> {
  host: string;
  run: string;
  /** Whether the run still exists. Asked when nothing arrives for a while. */
  isRunning(): Promise<boolean>;
}

/**
 * Asks the host of a run for its output, and yields what it answers. Ends with the output.
 * @throws StoreError; the signal's reason
 */
export async function* viewOutput(
  ports: ObserverPorts,
  options: OutputViewerOptions,
  signal: AbortSignal,
): AsyncGenerator<ViewedOutput> {
  const session = generateSessionId(ports.random);
  await grantOnce(ports.store, session, VIEWER_TTL_S, signal);
  const over = new AbortController();
  const either = AbortSignal.any([signal, over.signal]);
  void renew(ports, session, either);
  try {
    yield* readChunks(ports, options, session, signal);
  } finally {
    over.abort(NO_LONGER_NEEDED);
    await ports.store.revoke(session).catch(() => {}); // it expires
  }
}

async function renew({ clock, store }: ObserverPorts, session: bigint, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await clock.sleep(RENEWAL_INTERVAL_MS, signal).catch(() => {});
    // Without its session the request is gone, and the next write fails.
    if (!signal.aborted) await store.renew(session, signal).catch(() => {});
  }
}

async function* readChunks(
  ports: ObserverPorts,
  { host, run, isRunning, ...wanted }: OutputViewerOptions,
  session: bigint,
  signal: AbortSignal,
): AsyncGenerator<ViewedOutput> {
  const viewer = generateRunId(ports.random);
  const key = ports.keys.outputRequest(host, run, viewer);
  for (let read = 0; ; ) {
    const value = formatOutputRequest({ ...wanted, read });
    const put = { op: "put", key, value, session } as const;
    await commitWithRetries(ports, { compare: [], success: [put], failure: [] }, signal);
    const chunk = await waitForChunk(ports, viewer, { read, isRunning }, signal);
    if (chunk === undefined) {
      yield { records: [], skipped: 0, isSilent: true };
      return;
    }
    read = chunk.number;
    const { records } = decodeRecords(Buffer.from(chunk.records, "base64"));
    yield { records, skipped: chunk.skipped, isSilent: false };
    if (chunk.isEnd) return;
  }
}

/** @returns undefined if no host answers: no first chunk in time, or the run has ended without a last one */
async function waitForChunk(
  ports: ObserverPorts,
  viewer: string,
  { read, isRunning }: { read: number; isRunning(): Promise<boolean> },
  signal: AbortSignal,
): Promise<OutputChunk | undefined> {
  const range = { key: ports.keys.outputChunk(viewer) };
  let until = addMs(ports.clock.now(), FIRST_ANSWER);
  for (let looks = 0; ; ) {
    const { kvs, revision } = await readWithRetries(ports, range, signal);
    const chunk = parseOutputChunk(kvs[0]?.value);
    if (chunk !== undefined && chunk.number > read) return chunk;
    const left = subtractTime(until, ports.clock.now());
    if (left <= 0) {
      // The last answer may be under way when the run has ended.
      looks = (await isRunning()) ? 0 : looks + 1;
      if (read === 0 || looks > 1) return undefined;
      until = addMs(ports.clock.now(), LOOK_EVERY);
    } else await waitForChange(ports, { ranges: [range], from: revision + 1n }, left, signal);
  }
}
