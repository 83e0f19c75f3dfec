import { lstat, readdir, stat, unlink } from "node:fs/promises";
import { join } from "node:path";
import type { Millis, WallTime } from "../../core/base/clock.ts";
import { EXIT, SignalboxError } from "../../core/base/errors.ts";
import { quoteText } from "../../core/base/text.ts";
import { type Env, findBaseDirectory } from "../../core/config/files.ts";
import { createFolder } from "../../core/process/create-folder.ts";

/** Bytes of all runs in one directory. The oldest runs above it are removed. */
const MAX_DIRECTORY_BYTES = 256 * 1024 * 1024;
/** Bytes that the disk needs for a file besides its content, about: most runs write a few lines only. */
const FILE_BYTES = 4_096;
/** Output from later than this, ms from now, was written before the clock was set back. */
const MAX_AHEAD_MS = 60_000;
const SEGMENT = /^(?<run>[0-9a-z]{12,32})\.(?<start>0|[1-9]\d{0,14})$/;

/** A part of the output of a run: a file, and the position at which it begins. */
export interface OutputSegment {
  path: string;
  start: number;
}

/** Returns the directory of a user without a setting: by the XDG specification; undefined without a home. */
export function getDefaultOutputDirectory(env: Env, uid?: number) {
  if (uid === 0) return "/var/log/signalbox/output";
  const state = findBaseDirectory(env, "XDG_STATE_HOME", ".local/state");
  return state && join(state, "signalbox/output");
}

/** Creates the directory if it is missing. @throws SignalboxError if it is not private to this user; the system's error */
export async function openOutputDirectory(directory: string): Promise<void> {
  await createFolder(directory, 0o700);
  const fault = await findPrivacyFault(directory);
  if (fault !== undefined) throw new SignalboxError(EXIT.config, fault);
}

/** Returns why output must not be kept in a directory; undefined if it is private to this user. @throws the system's error */
export async function findPrivacyFault(directory: string): Promise<string | undefined> {
  const status = await lstat(directory); // a link may lead into a directory that others have chosen
  const { uid, mode } = status;
  if (status.isDirectory() && uid === process.getuid?.() && (mode & 0o077) === 0) return undefined;
  return `${quoteText(directory)} must be a directory of this user, with mode 0700; got owner ${uid}, mode 0${(mode & 0o777).toString(8)}`;
}

export function buildSegmentPath(directory: string, run: string, start: number): string {
  return join(directory, `${run}.${start}`);
}

/** Lists the segments of a run, the oldest first; empty if there is none or the directory cannot be read. */
export async function listSegments(directory: string, run: string): Promise<OutputSegment[]> {
  const names = await readdir(directory).catch(() => []);
  return names
    .flatMap((name) => {
      const { run: own, start } = SEGMENT.exec(name)?.groups ?? {};
      return own === run ? [{ path: join(directory, name), start: Number(start) }] : [];
    })
    .sort((a, b) => a.start - b.start);
}

/**
 * Removes old runs, and the oldest ones if all together are too large.
 * @param age  ms since the last output
 */
export async function pruneOutput(
  directory: string,
  { age, now, most = MAX_DIRECTORY_BYTES }: { age: Millis; now: WallTime; most?: number },
): Promise<void> {
  const runs = await readRuns(directory);
  let left = runs.reduce((sum, { bytes }) => sum + bytes, 0);
  const getOrder = ({ at }: { at: WallTime }) => (at > now + MAX_AHEAD_MS ? 0 : at);
  for (const { paths, bytes, at } of runs.sort((a, b) => getOrder(a) - getOrder(b))) {
    if (at >= now - age && left <= most) continue;
    for (const path of paths) await unlink(path).catch(() => {}); // another process has removed it
    left -= bytes;
  }
}

async function readRuns(directory: string) {
  const runs = new Map<string, { paths: string[]; bytes: number; at: WallTime }>();
  for (const name of await readdir(directory).catch(() => [])) {
    const run = SEGMENT.exec(name)?.groups?.run;
    const path = join(directory, name);
    const status = run === undefined ? undefined : await stat(path).catch(() => undefined);
    if (run === undefined || status === undefined) continue;
    const { paths, bytes, at } = runs.get(run) ?? { paths: [], bytes: 0, at: 0 };
    runs.set(run, {
      paths: [...paths, path],
      bytes: bytes + status.size + FILE_BYTES,
      at: Math.max(at, status.mtimeMs),
    });
  }
  return [...runs.values()];
}
