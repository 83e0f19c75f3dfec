/** The agent of a host, which a test kills, freezes and replaces. */
import { chmodSync, chownSync, cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { TestProcess } from "../../../fixtures/cluster/process-group.ts";
import type { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import type { TestJobs } from "../../../fixtures/cluster/test-jobs.ts";
import type { TestNamespace } from "../../../fixtures/cluster/test-namespace.ts";
import { killProcess } from "../../../fixtures/process/marked-processes.ts";
import { BUNDLE, type SignalboxOptions } from "../../../fixtures/signalbox.ts";

export class HostAgent {
  /** Its runs are started through the launcher, and fail if no agent serves them, unless SIGNALBOX_AGENT says otherwise. */
  readonly namespace: TestNamespace;
  readonly folder: string;
  readonly socket: string;
  #current: TestProcess | undefined;

  private constructor(namespace: TestNamespace, folder: string) {
    this.namespace = namespace;
    this.folder = folder;
    this.socket = join(folder, "agent.sock");
  }

  /**
   * Creates a namespace with an agent.
   * @param env  variables of its processes
   * @param how  `owner`: the user to whom the folder of the socket belongs
   */
  static async start(
    cluster: TestCluster,
    env: Record<string, string> = {},
    { owner, ...how }: SignalboxOptions & { owner?: number } = {},
  ): Promise<HostAgent> {
    const folder = mkdtempSync(join(tmpdir(), "signalbox-host-agent-"));
    chmodSync(folder, 0o755); // launchers of other users must find the socket
    if (owner !== undefined) chownSync(folder, owner, owner);
    const agentSocket = join(folder, "agent.sock");
    const namespace = cluster.createNamespace({ agentSocket, env: { SIGNALBOX_AGENT: "always", ...env } });
    namespace.onClose(() => rmSync(folder, { recursive: true, force: true }));
    const agent = new HostAgent(namespace, folder);
    await agent.start(how);
    return agent;
  }

  get jobs(): TestJobs {
    return this.namespace.jobs;
  }

  get process(): TestProcess {
    if (this.#current === undefined) throw new Error("the agent was not started");
    return this.#current;
  }

  /** Starts an agent, and waits until it listens. */
  async start(how: SignalboxOptions = {}): Promise<void> {
    this.#current = this.namespace.start("agent", how);
    await this.#current.waitForOutput("ready");
  }

  signal(name: NodeJS.Signals): void {
    killProcess(this.process.pid, name);
  }

  /** Ends the agent with a signal. */
  async end(name: NodeJS.Signals = "SIGKILL"): Promise<void> {
    this.signal(name);
    await this.process.ended;
  }

  /** Copies the program with another version in it. @returns the bundle of the copy */
  createOtherVersion(version: string): string {
    const copy = join(this.folder, "dist");
    cpSync(dirname(BUNDLE), copy, { recursive: true });
    const path = join(copy, "agent.cjs");
    const text = readFileSync(path, "utf8");
    const other = text.replace(/version: "[^"]+"/, `version: "${version}"`);
    if (other === text) throw new Error("the version was not found in the bundle");
    writeFileSync(path, other);
    return join(copy, "signalbox.cjs");
  }
}
