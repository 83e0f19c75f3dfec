import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { waitUntil } from "../../fixtures/wait-until.ts";

const ENVIRONMENT = { PATH: "/usr/sbin:/usr/bin:/sbin:/bin", LANG: "C.UTF-8", HOME: "/root" };
/** The first process of a host: it does nothing but collect the ends of others. */
const INIT = "for (;;) { wait() < 0 and sleep 1 }";

/** A host in namespaces. */
export class NetworkHost {
  readonly name: string;
  /** Where its files are on this machine; they stay when it is killed. */
  readonly folder: string;
  readonly #process: ChildProcess;
  /** Its first process, as this machine sees it. */
  #pid = 0;

  private constructor(name: string, folder: string) {
    this.name = name;
    this.folder = folder;
    const mounts = `mount --rbind /dev '${folder}/dev' && mount -t proc proc '${folder}/proc'`;
    const line = `hostname ${name} && ${mounts} && ip link set lo up && echo ready && exec chroot '${folder}' perl -e '${INIT}'`;
    const namespaces = ["--mount", "--uts", "--net", "--pid", "--fork", "--kill-child"];
    this.#process = spawn("unshare", [...namespaces, "sh", "-c", line], {
      env: ENVIRONMENT,
      stdio: ["ignore", "pipe", "inherit"],
    });
  }

  get pid(): number {
    return this.#pid;
  }

  /** Starts a host without a network, from the files in `folder`. */
  static async boot(name: string, folder: string): Promise<NetworkHost> {
    const host = new NetworkHost(name, folder);
    let text = "";
    host.#process.stdout?.on("data", (chunk: Buffer) => {
      text += chunk;
    });
    await waitUntil(name, () => text.includes("ready"));
    const parent = host.#process.pid;
    host.#pid = Number(readFileSync(`/proc/${parent}/task/${parent}/children`, "utf8").trim());
    return host;
  }

  /** Types lines into a new shell of root, which ends at the first that fails. @returns output @throws Error with the output */
  require(lines: string): string {
    const own = [`--target=${this.#pid}`, "--mount", "--uts", "--net", "--pid", "--"];
    const shell = ["chroot", this.folder, "bash", "-ec", `cd\n${lines}`];
    const { status, stdout, stderr } = spawnSync("nsenter", [...own, ...shell], {
      env: ENVIRONMENT,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
      timeout: 240_000,
    });
    if (status !== 0) throw new Error(`${this.name}: exit code ${status}: ${lines}\n${stdout}${stderr}`);
    return stdout;
  }

  /** @returns the text of one of its files; empty if there is none */
  readText(path: string): string {
    try {
      return readFileSync(join(this.folder, path), "utf8");
    } catch {
      return "";
    }
  }

  /** Ends all its processes at once. */
  async kill(): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    process.kill(this.#pid, "SIGKILL"); // the end of the first process ends all in its namespace
    await once(this.#process, "exit");
  }
}
