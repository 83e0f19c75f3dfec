import { spawn } from "node:child_process";
import { constants } from "node:fs";
import { chmod, chown, mkdir, mkdtemp, open, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { CommandUser } from "../../core/process/guarded-command/command.ts";
import { LARGEST_CHECKPOINT } from "../../schedule/state/checkpoint.ts";
import type { ScheduledTask } from "../handler.ts";
import type { HandlerPorts } from "../worker-ports.ts";

const doNothing = () => {};

/** How often the files are read, ms. */
const READ_EVERY = 1_000;
/** What is read of the progress, bytes. */
const PROGRESS_BYTES = 1_024;

/**
 * The files in which the command of a task says how far it is, in a private directory: its progress, for people, and its
 * checkpoint, for the next start. They are read while they change.
 */
interface TaskFiles {
  /** The variables that name the files. */
  readonly env: Record<string, string>;
  /** Reads the checkpoint once more, when the command has ended. The task saves it. */
  readLast(): Promise<void>;
  /** Removes the files with their directory. */
  close(): Promise<void>;
}

/** Whose the files are, and what is in them. */
interface TaskFilesOptions {
  /** Default: this process's user. */
  user?: CommandUser | undefined;
  /** Contents of files, by the variable that names the file. */
  secrets?: Readonly<Record<string, string>>;
}

/**
 * Creates the directory, with the checkpoint of an earlier start.
 * @returns undefined if that is not possible, for example on a full disk: the command runs without it
 * @throws the error of the system if the command cannot get a secret
 */
export async function openTaskFiles(
  ports: HandlerPorts,
  task: ScheduledTask,
  { user, secrets = {} }: TaskFilesOptions = {},
): Promise<TaskFiles | undefined> {
  const { checkpoint, id: schedule } = task;
  let folder: string | undefined;
  try {
    folder = await mkdtemp(join(tmpdir(), "signalbox-task-"));
    return await fillFolder(ports, task, { folder, user, secrets });
  } catch (error) {
    if (folder !== undefined) await removeFolder(folder, user);
    if (Object.keys(secrets).length > 0) throw error;
    const told = { schedule, error: String(error) };
    if (checkpoint === undefined) ports.log.debug("no files for progress and checkpoint", told);
    else ports.log.warn("the command does not get its checkpoint, and begins from the start", told);
    return undefined;
  }
}

/** The folder in that of another user's task which the user may write. */
const USER_FOLDER = "task";

/**
 * Another user may write only in a folder inside, and so cannot put something else in the place of it, or of a secret, while this
 * process of root uses their paths.
 */
async function fillFolder(
  ports: HandlerPorts,
  task: ScheduledTask,
  { folder, user, secrets }: { folder: string } & Required<TaskFilesOptions>,
): Promise<TaskFiles> {
  const own = user === undefined ? folder : join(folder, USER_FOLDER);
  const give = async (path: string) => user && (await chown(path, user.uid, user.gid));
  const write = async (path: string, text: string, mode: number) => {
    await writeFile(path, text, { mode, flag: "wx" });
    await give(path);
  };
  if (user !== undefined) {
    await mkdir(own, { mode: 0o700 });
    await chmod(folder, 0o711);
  }
  const paths = Object.entries(secrets).map(
    ([name, text]) => [name, join(folder, `secret-${name}`), text] as const,
  );
  for (const [, path, text] of paths) await write(path, text, 0o400);
  if (task.checkpoint !== undefined) await write(join(own, "checkpoint"), task.checkpoint, 0o600);
  if (user !== undefined) await give(own);
  const files = followTaskFiles(ports, task, own, user);
  return {
    ...files,
    env: { ...files.env, ...Object.fromEntries(paths) },
    async close() {
      await files.close();
      await removeFolder(folder, user);
    },
  };
}

function followTaskFiles(
  { clock, log }: HandlerPorts,
  task: ScheduledTask,
  folder: string,
  user: CommandUser | undefined,
): TaskFiles {
  const [progressFile, checkpointFile] = [join(folder, "progress"), join(folder, "checkpoint")];
  const over = new AbortController();
  let isClosed = false;
  let progress: string | undefined;
  let { checkpoint } = task;
  /** Why a checkpoint is not kept, each reason once. */
  const faults = new Set<string>();

  const reportFault = (why: string) => {
    if (faults.has(why)) return;
    faults.add(why);
    const { id: schedule, run } = task;
    log.warn("a checkpoint is not kept, an earlier one stays", { schedule, run, why });
  };

  const readProgress = async () => {
    // The command may not have written it yet.
    const bytes = await readStart(progressFile, PROGRESS_BYTES, user).catch(() => undefined);
    const text = bytes?.toString("utf8");
    if (text !== undefined && text !== progress) task.reportProgress(text);
    progress = text;
  };

  const readCheckpoint = async () => {
    let text: string;
    try {
      const bytes = await readStart(checkpointFile, LARGEST_CHECKPOINT + 1, user);
      if (bytes.length > LARGEST_CHECKPOINT)
        return reportFault(`it is larger than ${LARGEST_CHECKPOINT} bytes`);
      text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      if (code !== "ENOENT") reportFault(FAULTS[code ?? ""] ?? message);
      return;
    }
    // A shell empties the file before it writes it. After a success, a checkpoint that was read late must not be saved.
    if (text === "" || text === checkpoint || isClosed) return;
    checkpoint = text;
    void task.saveCheckpoint(text).catch((error: Error) => {
      reportFault(error.message);
      if (checkpoint === text) checkpoint = undefined; // saved again at the next look
    });
  };

  const follow = async () => {
    for (;;) {
      await clock.sleep(READ_EVERY, over.signal).catch(() => {});
      if (over.signal.aborted) return;
      await readProgress();
      await readCheckpoint();
    }
  };

  const reading = follow();
  const stop = async () => {
    over.abort(new Error("the command has ended"));
    await reading;
  };
  return {
    env: { SIGNALBOX_PROGRESS_FILE: progressFile, SIGNALBOX_CHECKPOINT_FILE: checkpointFile },
    async readLast() {
      await stop();
      await readCheckpoint();
    },
    async close() {
      isClosed = true;
      await stop();
    },
  };
}

const REMOVAL_TIMEOUT_MS = 10_000;

/** What a user has written is removed by the user's own rights: a link that replaces a folder meanwhile leads root astray. */
async function removeFolder(path: string, user: CommandUser | undefined): Promise<void> {
  if (user !== undefined) await removeAs(user, join(path, USER_FOLDER));
  await rm(path, { recursive: true, force: true }).catch(doNothing);
}

async function removeAs({ uid, gid }: CommandUser, path: string): Promise<void> {
  const limits = { timeout: REMOVAL_TIMEOUT_MS, killSignal: "SIGKILL" } as const; // the user can stop it
  const options = { uid, gid, env: {}, cwd: "/", stdio: "ignore", ...limits } as const;
  const remover = spawn("/bin/rm", ["-rf", "--", path], options);
  await new Promise<void>((resolve) => {
    remover.once("close", () => resolve());
    remover.once("error", () => resolve());
  });
}

const FAULTS: Readonly<Record<string, string>> = {
  ELOOP: "the file is a symbolic link; write or rename a file there",
  ERR_ENCODING_INVALID_ENCODED_DATA: "it is not text in UTF-8",
};

async function readStart(path: string, most: number, user: CommandUser | undefined): Promise<Buffer> {
  // The command may have put something else there: a pipe would block a thread, a link lead elsewhere.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
  try {
    const status = await file.stat();
    if (!status.isFile()) throw new Error("it is not a file");
    if (user !== undefined && status.uid !== user.uid) throw new Error("it is a file of another user");
    const { buffer, bytesRead } = await file.read(Buffer.alloc(most), 0, most, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}
