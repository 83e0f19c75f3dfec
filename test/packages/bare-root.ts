/**
 * A bare Debian in a folder, with the essential packages, `man`, `logrotate`, and nothing of Node or a compiler. What is started in it
 * has no network but its own loopback device, on which an etcd listens.
 */
import { type ChildProcess, type ChildProcessWithoutNullStreams, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { findEtcd } from "../../fixtures/etcd/index.ts";
import type { ProcessResult } from "../../fixtures/signalbox.ts";
import { waitUntil } from "../../fixtures/wait-until.ts";
import { provideEmulator, spawnEmulated } from "./arm64-emulator.ts";
import { BOOT_NAMESPACES, createCgroup, removeCgroup, renderBoot } from "./booted-systemd.ts";
import { describeFiles } from "./installed-files.ts";

/** What signalbox's package depends on, `man`, and `logrotate`. */
const INCLUDED = ["libstdc++6", "libgcc-s1", "passwd", "man-db", "logrotate"];
const ENVIRONMENT = { PATH: "/usr/sbin:/usr/bin:/sbin:/bin", LANG: "C.UTF-8", HOME: "/root", TERM: "xterm" };
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
  /** Folder of the cgroup of systemd if it is the first process. */
  #cgroup: string | undefined;
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

  /** The same with systemd, for the processor of this host. It has started all its units. */
  static async boot(suite: string): Promise<BareRoot> {
    const root = new BareRoot(mkdtempSync(join(tmpdir(), "signalbox-root-")));
    await root.#installDebian(suite, OWN_ARCHITECTURE, ["systemd-sysv"]);
    root.#cgroup = createCgroup(basename(root.#scratch));
    await root.#openNamespaces();
    root.require("until systemctl is-system-running | grep -E 'running|degraded'; do sleep 0.1; done");
    await root.#startEtcd();
    return root;
  }

  async #installDebian(suite: string, architecture: string, more: readonly string[] = []): Promise<void> {
    const options = ["--quiet", "--variant=minbase", `--include=${[...INCLUDED, ...more].join(",")}`];
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
    if (this.#cgroup !== undefined) await removeCgroup(this.#cgroup);
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

  /** @returns what is installed, see `describeFiles` */
  describeFiles(): Map<string, string> {
    return describeFiles(this.#folder);
  }

  async #openNamespaces(): Promise<void> {
    const child =
      this.#cgroup === undefined
        ? await this.#unshare(["--net"], this.#renderIdle())
        : await this.#unshare(BOOT_NAMESPACES, renderBoot(this.#folder));
    let text = "";
    child.stdout?.on("data", (chunk: string) => {
      text += chunk;
    });
    await waitUntil("the namespaces", () => text.includes("ready"));
    const children = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, "utf8");
    this.#pid = Number(children.trim());
  }

  #renderIdle(): string {
    const mounts = `mount --rbind /dev '${this.#folder}/dev' && mount -t proc proc '${this.#folder}/proc'`;
    return `${mounts} && ip link set lo up && echo ready && exec sleep infinity`;
  }

  /** Starts a line of shell with mounts and processes of its own. @param more  options of unshare */
  async #unshare(more: readonly string[], line: string): Promise<ChildProcess> {
    if (this.#emulator !== undefined) return this.#keep(await spawnEmulated(this.#emulator, line, more));
    const namespaces = ["--mount", "--pid", "--fork", "--kill-child", ...more];
    const join = this.#cgroup === undefined ? "" : `echo $$ >'${this.#cgroup}/cgroup.procs' && `;
    return this.#spawn("sh", ["-c", `${join}exec unshare "$@"`, "sh", ...namespaces, "sh", "-c", line]);
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
    if (this.#cgroup !== undefined) return [...target, "--uts", "--ipc", "--cgroup", "--", ...command];
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
