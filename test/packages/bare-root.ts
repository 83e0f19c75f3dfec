/**
 * A bare Debian in a folder, with the essential packages, `man`, `logrotate`, and nothing of Node or a compiler. What is started in it
 * has no network but its own loopback device, on which an etcd listens.
 */
import { type ChildProcess, type ChildProcessWithoutNullStreams, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { cpSync, lstatSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { findEtcd } from "../../fixtures/etcd/index.ts";
import type { ProcessResult } from "../../fixtures/signalbox.ts";
import { waitUntil } from "../../fixtures/wait-until.ts";
import { provideEmulator, spawnEmulated } from "./arm64-emulator.ts";

/** What signalbox's package depends on, `man`, and `logrotate`. */
const INCLUDED = ["libstdc++6", "libgcc-s1", "passwd", "man-db", "logrotate"];
const ENVIRONMENT = { PATH: "/usr/sbin:/usr/bin:/sbin:/bin", LANG: "C.UTF-8", HOME: "/root", TERM: "xterm" };
/** Written by any installation of any package: databases, caches and logs of Debian's tools, backups of user lists. */
const OF_DEBIAN = /^(var\/lib\/dpkg|var\/cache|var\/log\/(dpkg|alternatives)|etc\/(passwd|group|g?shadow)-$)/;
/** Not part of the installation. What a program keeps in the homes of its users is theirs: no package removes it. */
const TRANSIENT = /^(proc|sys|dev|tmp|run|root)(\/|$)/;

/** Timeout for a line of shell, ms: what it waits for has not happened. */
const LINE_PATIENCE = 180_000;

/** Debian's name of the processor of this host. */
export const OWN_ARCHITECTURE = process.arch === "arm64" ? "arm64" : "amd64";

export class BareRoot {
  readonly #folder: string;
  readonly #scratch: string;
  readonly #children: ChildProcess[] = [];
  /** Path of the emulator if this host cannot start the programs by itself. */
  #emulator: string | undefined;
  /** The first process of the namespaces. */
  #pid = 0;

  private constructor(scratch: string) {
    this.#scratch = scratch;
    this.#folder = join(scratch, "root");
  }

  /**
   * Installs Debian with the mirrors that this host uses, and starts an etcd. Close it at the end.
   * @param architecture  Debian's name of the processor. If it is not that of this host, it is emulated
   */
  static async create(suite: string, architecture: "amd64" | "arm64"): Promise<BareRoot> {
    const root = new BareRoot(mkdtempSync(join(tmpdir(), "signalbox-root-")));
    const isOwn = architecture === OWN_ARCHITECTURE;
    root.#emulator = isOwn ? undefined : await provideEmulator();
    await root.#installDebian(suite, architecture);
    await root.#openNamespaces();
    await root.#startEtcd();
    return root;
  }

  async #installDebian(suite: string, architecture: string): Promise<void> {
    const options = ["--quiet", "--variant=minbase", `--include=${INCLUDED.join(",")}`];
    const words = ["mmdebstrap", `--architectures=${architecture}`, ...options, suite, this.#folder];
    const child = await this.#unshare([], `exec ${words.join(" ")}`);
    const { code, stdout, stderr } = await collect(child);
    if (code !== 0) throw new Error(`mmdebstrap: exit code ${code}\n${stdout}${stderr}`);
  }

  /** Ends everything in it, and removes it. */
  async close(): Promise<void> {
    const running = this.#children.filter(({ exitCode, signalCode }) => exitCode === null && !signalCode);
    const ended = running.map((child) => once(child, "exit"));
    for (const child of running) child.kill("SIGKILL"); // the end of the first process ends all in its namespace
    await Promise.all(ended);
    rmSync(this.#scratch, { recursive: true, force: true });
  }

  /** Copies a file to `/tmp`. @returns its path in the root */
  addFile(path: string): string {
    cpSync(path, join(this.#folder, "tmp", basename(path)));
    return `/tmp/${basename(path)}`;
  }

  /** Runs a line of shell, and waits for its end. */
  run(line: string): ProcessResult {
    const { status, signal, stdout, stderr } = spawnSync("nsenter", this.#enter("sh", "-c", line), {
      env: ENVIRONMENT,
      encoding: "utf8",
      timeout: LINE_PATIENCE,
      killSignal: "SIGKILL",
    });
    return { code: status, signal, stdout, stderr };
  }

  /** @throws Error with the output if the line of shell fails. @returns standard output */
  require(line: string): string {
    const { code, stdout, stderr } = this.run(line);
    if (code !== 0) throw new Error(`${line}: exit code ${code}\n${stdout}${stderr}`);
    return stdout;
  }

  /** Starts a line of shell. @returns its result when it ends */
  start(line: string): Promise<ProcessResult> {
    return collect(this.#spawn("nsenter", this.#enter("sh", "-c", line)));
  }

  /** Starts a line of shell on a terminal of 120 by 40, types keys once it has printed something, and waits for its end. */
  async typeInto(line: string, printed: string, keys: string): Promise<ProcessResult> {
    const words = this.#enter("sh", "-c", `stty cols 120 rows 40; exec ${line}`).map((word) => `'${word}'`);
    const child = this.#spawn("script", ["-qec", `nsenter ${words.join(" ")}`, "/dev/null"]);
    let screen = "";
    child.stdout?.on("data", (text: string) => {
      screen += text;
    });
    const ended = collect(child);
    await waitUntil(printed, () => screen.includes(printed), { describe: () => screen });
    child.stdin?.write(keys);
    return await ended;
  }

  /** @returns each path with its kind or the contents of its file, without what Debian's own tools write */
  describeFiles(): Map<string, string> {
    const paths = readdirSync(this.#folder, { recursive: true, encoding: "utf8" });
    const kept = paths.filter((path) => !TRANSIENT.test(path) && !OF_DEBIAN.test(path)).sort();
    return new Map(kept.map((path) => [path, describeFile(join(this.#folder, path))]));
  }

  async #openNamespaces(): Promise<void> {
    const mounts = `mount --rbind /dev '${this.#folder}/dev' && mount -t proc proc '${this.#folder}/proc'`;
    const line = `${mounts} && ip link set lo up && echo ready && exec sleep infinity`;
    const child = await this.#unshare(["--net"], line);
    let text = "";
    child.stdout?.on("data", (chunk: string) => {
      text += chunk;
    });
    await waitUntil("the namespaces", () => text.includes("ready"));
    const children = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, "utf8");
    this.#pid = Number(children.trim());
  }

  /** Starts a line of shell with mounts and processes of its own. @param more  options of unshare */
  async #unshare(more: readonly string[], line: string): Promise<ChildProcess> {
    if (this.#emulator !== undefined) return this.#keep(await spawnEmulated(this.#emulator, line, more));
    const namespaces = ["--mount", "--pid", "--fork", "--kill-child", ...more];
    return this.#spawn("unshare", [...namespaces, "sh", "-c", line]);
  }

  async #startEtcd(): Promise<void> {
    const { etcd } = await findEtcd();
    const data = join(this.#scratch, "etcd");
    const own = [`--target=${this.#pid}`, "--net", "--pid"];
    const child = this.#spawn("nsenter", [...own, etcd, "--data-dir", data]);
    let log = "";
    child.stderr?.on("data", (text: string) => {
      log += text;
    });
    await waitUntil("etcd", () => /ready to serve client requests|serving .*client requests/.test(log), {
      describe: () => log,
    });
  }

  #spawn(command: string, args: readonly string[]): ChildProcess {
    return this.#keep(spawn(command, args, { env: ENVIRONMENT }));
  }

  #keep(child: ChildProcessWithoutNullStreams): ChildProcess {
    child.stdout.setEncoding("utf8");
    child.stderr.setEncoding("utf8");
    this.#children.push(child);
    return child;
  }

  /** @returns the arguments of nsenter */
  #enter(...command: string[]): string[] {
    const user = this.#emulator === undefined ? [] : ["--user"];
    const target = [`--target=${this.#pid}`, ...user, "--mount", "--net", "--pid"];
    return [...target, "--", "chroot", this.#folder, ...command];
  }
}

async function collect(child: ChildProcess): Promise<ProcessResult> {
  let [stdout, stderr] = ["", ""];
  child.stdout?.on("data", (text: string) => {
    stdout += text;
  });
  child.stderr?.on("data", (text: string) => {
    stderr += text;
  });
  const [code, signal] = await once(child, "close");
  return { code, signal, stdout, stderr };
}

function describeFile(path: string): string {
  const status = lstatSync(path);
  if (status.isSymbolicLink()) return "link";
  return status.isFile() ? readFileSync(path, "latin1") : "folder";
}
