import { TooLargeError } from "../../base/errors.ts";
import { retryUnavailable } from "../../etcd/retry.ts";
import { StoreError } from "../../etcd/store.ts";
import { guardNotNewer } from "../../protocol/guards.ts";
import { findFirstKey, type Txn } from "../../protocol/txn.ts";
import { PreemptedError } from "../../schedule/errors.ts";
import { formatCheckpoint, LARGEST_CHECKPOINT } from "../../schedule/state/checkpoint.ts";
import type { ClaimedOccurrence } from "../claims/claim-occurrence.ts";
import type { WorkerRegistration } from "../registration/worker-registration.ts";
import type { SchedulePorts } from "../worker-ports.ts";

/** How long etcd keeps a checkpoint after it was saved, ms: its schedule may be deleted or paused meanwhile. */
const KEPT_FOR = 30 * 86_400_000;

/** Saves the checkpoints of one start of an occurrence: a text that the next start gets. */
export interface CheckpointWriter {
  /**
   * Saves a text. Only one write is under way; the texts that wait for it become one, the newest.
   * @throws TooLargeError; PreemptedError if another start has the occurrence, or may have it; StoreError
   */
  save(text: string): Promise<void>;
  /** Waits for the writes that are under way. Never rejects. Call it before the running key is deleted. */
  settle(): Promise<void>;
}

/** The guard on the running key refuses what a start writes after another one has taken the occurrence over. */
export function createCheckpointWriter(
  ports: SchedulePorts,
  { id, key, token, running, open, checkpoint }: ClaimedOccurrence,
  { session, checkpointExpiry }: WorkerRegistration,
): CheckpointWriter {
  /** The checkpoint is not newer, as far as known. */
  let newest = token;
  let wanted = "";
  let waiting: Promise<void> | undefined;
  let writing = Promise.resolve();

  /**
   * Writes a value, unless the checkpoint is newer than known: a late copy of this write must not undo a later one.
   * @returns whether etcd has it
   */
  const put = async (value: string, own: bigint) => {
    const txn: Txn = {
      compare: [
        { key, target: "create", is: "equal", value: token },
        ...guardNotNewer(newest, { key: checkpoint.key }),
      ],
      success: [{ op: "put", key: checkpoint.key, value, session: own }],
      failure: [key, checkpoint.key].map((one) => ({ op: "range", key: one })),
    };
    const call = (signal: AbortSignal) => ports.store.commitTxn(txn, signal);
    const answer = await retryUnavailable(ports, session.horizon, call, session.signal);
    const [held, stored] = answer.succeeded ? [] : answer.results.map(findFirstKey);
    if (!answer.succeeded && held?.createRevision !== token)
      throw new PreemptedError(
        `the checkpoint of ${id} was refused: attempt ${running.attempt} does not have the occurrence any more`,
      );
    newest = stored?.modRevision ?? answer.revision;
    return answer.succeeded || stored?.value === value;
  };

  const write = async (data: string) => {
    const { mayExist } = checkpoint;
    const value = formatCheckpoint({ attempt: running.attempt, backfill: open.backfill, data });
    try {
      const own = await checkpointExpiry.choose(KEPT_FOR).id;
      checkpoint.mayExist = true; // also if no answer comes
      while (!(await put(value, own))); // a late copy of an earlier write was applied first
    } catch (cause) {
      if (session.signal.aborted)
        throw new PreemptedError(`the session was lost before the checkpoint of ${id} was saved`, { cause });
      if (cause instanceof StoreError && cause.kind === "permission") checkpoint.mayExist = mayExist;
      if (cause instanceof StoreError && cause.kind === "noSession") checkpointExpiry.drop(KEPT_FOR);
      throw cause;
    }
  };

  const writeNext = async () => {
    await writing;
    waiting = undefined;
    const next = write(wanted);
    writing = next.catch(() => {});
    await next;
  };

  return {
    async save(text) {
      const size = Buffer.byteLength(text);
      if (size > LARGEST_CHECKPOINT)
        throw new TooLargeError(
          `the checkpoint has ${size} bytes, and at most ${LARGEST_CHECKPOINT} are kept`,
        );
      wanted = text;
      waiting ??= writeNext();
      await waiting;
    },
    async settle() {
      await waiting?.catch(() => {});
      await writing;
    },
  };
}
