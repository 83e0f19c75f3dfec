import type { Settings } from "../../../core/config/settings.ts";
import type { PastRun } from "../../../core/protocol/history.ts";
import type { ArchiveOptions, ArchivePorts, ArchiveWriter } from "../../../site/output/archive.ts";
import { getDefaultOutputDirectory } from "../../../site/output/output-directory.ts";
import type { OutputStorage } from "../../../site/output/output-keeper.ts";
import { parseMasks } from "../../../site/output/output-mask.ts";
import type { CommandIo } from "../../frame/command.ts";

/** Returns where records of the past are archived; undefined for nowhere. */
export function buildArchiveOptions({ archiveFile: path, archiveSize: size, archiveCount: files }: Settings) {
  return path === undefined ? undefined : { path, size, files };
}

/** Archives the runs of locks that this process has served. What writes is loaded for the first one. Never throws. */
export class RunArchive {
  readonly #ports: ArchivePorts;
  /** By their options: callers of an agent may name several files. */
  readonly #writers = new Map<string, Promise<ArchiveWriter>>();

  constructor(ports: ArchivePorts) {
    this.#ports = ports;
  }

  /** Adds a run to the archive, as the history of a lock has it. */
  append(options: ArchiveOptions, lock: string, past: PastRun): void {
    const key = JSON.stringify(options);
    const writer = this.#writers.get(key) ?? this.#openWriter(options);
    this.#writers.set(key, writer);
    void writer.then((one) => one.append({ id: `${past.run}@${lock}`, lock, ...past }));
  }

  /** Waits until everything is written, but not for a full disk. */
  async close(): Promise<void> {
    for (const writer of this.#writers.values()) await (await writer).close();
  }

  async #openWriter(options: ArchiveOptions): Promise<ArchiveWriter> {
    const { ArchiveWriter } = await import("../../../site/output/archive.ts");
    return new ArchiveWriter(this.#ports, options);
  }
}

/**
 * Builds where and how much output is kept.
 * @returns undefined if none is kept: the size is 0, or the user has no directory for it
 * @throws UsageError if a mask is wrong
 */
export function buildOutputStorage(
  call: { flags: { readonly mask?: readonly string[] } },
  { outputDirectory, outputSize: size, outputAge: age }: Settings,
  env: CommandIo["env"],
): OutputStorage | undefined {
  const masks = parseMasks(call.flags.mask ?? []);
  const directory = findOutputDirectory(outputDirectory, env);
  return directory === undefined || size === 0 ? undefined : { directory, size, age, masks };
}

/** Returns the directory of kept output of this user, if there is one. */
export function findOutputDirectory(set: string | undefined, env: CommandIo["env"]): string | undefined {
  return set ?? getDefaultOutputDirectory(env, process.getuid?.());
}
