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

/**
 * Saves the checkpoints of one start of an occurrence: a text that the next start gets. The guard on the running key refuses
 * what a start writes after another one has taken the occurrence over.
 */
export class CheckpointWriter {
  readonly #ports: SchedulePorts;
  readonly #claimed: ClaimedOccurrence;
  readonly #registration: WorkerRegistration;
  /** The checkpoint is not newer, as far as known. */
  #newest: bigint;
  #wanted = "";
  #waiting: Promise<void> | undefined;
  #writing: Promise<void> = Promise.resolve();

  constructor(ports: SchedulePorts, claimed: ClaimedOccurrence, registration: WorkerRegistration) {
    this.#ports = ports;
    this.#claimed = claimed;
    this.#registration = registration;
    this.#newest = claimed.token;
  }

  /**
   * Saves a text. Only one write is under way; the texts that wait for it become one, the newest.
   * @throws TooLargeError; PreemptedError if another start has the occurrence, or may have it; StoreError
   */
  async save(text: string): Promise<void> {
    const size = Buffer.byteLength(text);
    if (size > LARGEST_CHECKPOINT)
      throw new TooLargeError(`the checkpoint has ${size} bytes, and at most ${LARGEST_CHECKPOINT} are kept`);
    this.#wanted = text;
    this.#waiting ??= this.#writeNext();
    await this.#waiting;
  }

  /** Waits for the writes that are under way. Never rejects. Call it before the running key is deleted. */
  async settle(): Promise<void> {
    await this.#waiting?.catch(() => {});
    await this.#writing;
  }

  async #writeNext(): Promise<void> {
    await this.#writing;
    this.#waiting = undefined;
    const write = this.#write(this.#wanted);
    this.#writing = write.catch(() => {});
    await write;
  }

  async #write(data: string): Promise<void> {
    const { session, checkpointExpiry: expiry } = this.#registration;
    const { id, running, checkpoint, open } = this.#claimed;
    const { mayExist } = checkpoint;
    const value = formatCheckpoint({ attempt: running.attempt, backfill: open.backfill, data });
    try {
      const own = await expiry.choose(KEPT_FOR).id;
      checkpoint.mayExist = true; // also if no answer comes
      while (!(await this.#put(value, own))); // a late copy of an earlier write was applied first
    } catch (error) {
      if (session.signal.aborted)
        throw new PreemptedError(`the session was lost before the checkpoint of ${id} was saved`, {
          cause: error,
        });
      if (error instanceof StoreError && error.kind === "permission") checkpoint.mayExist = mayExist;
      if (error instanceof StoreError && error.kind === "noSession") expiry.drop(KEPT_FOR);
      throw error;
    }
  }

  /**
   * Writes a value, unless the checkpoint is newer than known: a late copy of this write must not undo a later one.
   * @returns whether etcd has it
   */
  async #put(value: string, own: bigint): Promise<boolean> {
    const { session } = this.#registration;
    const { id, key, token, running, checkpoint } = this.#claimed;
    const txn: Txn = {
      compare: [
        { key, target: "create", is: "equal", value: token },
        ...guardNotNewer(this.#newest, { key: checkpoint.key }),
      ],
      success: [{ op: "put", key: checkpoint.key, value, session: own }],
      failure: [key, checkpoint.key].map((one) => ({ op: "range", key: one })),
    };
    const call = (signal: AbortSignal) => this.#ports.store.commitTxn(txn, signal);
    const answer = await retryUnavailable(this.#ports, session.horizon, call, session.signal);
    const [held, stored] = answer.succeeded ? [] : answer.results.map(findFirstKey);
    if (!answer.succeeded && held?.createRevision !== token)
      throw new PreemptedError(
        `the checkpoint of ${id} was refused: attempt ${running.attempt} does not have the occurrence any more`,
      );
    this.#newest = stored?.modRevision ?? answer.revision;
    return answer.succeeded || stored?.value === value;
  }
}
