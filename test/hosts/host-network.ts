/** Hosts in namespaces: each has its own name, network, processes and files. A switch in a namespace of its own connects them. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { waitUntil } from "../../fixtures/wait-until.ts";
import { copyDebian, installDebian } from "./debian-image.ts";
import { NetworkHost } from "./network-host.ts";

const SWITCH = "ip link add switch type bridge && ip link set switch up && echo ready && exec sleep infinity";

export class HostNetwork {
  readonly #scratch = mkdtempSync(join(tmpdir(), "signalbox-hosts-"));
  readonly #switch: ChildProcess;
  readonly #hosts = new Map<string, NetworkHost>();

  private constructor() {
    this.#switch = spawn("unshare", ["--net", "sh", "-c", SWITCH], { stdio: ["ignore", "pipe", "inherit"] });
  }

  /** Starts hosts with a bare Debian and an SSH server. Close it at the end. */
  static async create(suite: string, names: readonly string[]): Promise<HostNetwork> {
    const network = new HostNetwork();
    try {
      await network.#start(suite, names);
    } catch (error) {
      await network.close();
      throw error;
    }
    return network;
  }

  /** @throws Error if there is no host of this name */
  getHost(name: string): NetworkHost {
    const host = this.#hosts.get(name);
    if (host === undefined) throw new Error(`there is no host ${name}`);
    return host;
  }

  /** Pulls the cable of a host, then its plug: the others get no message from it any more. */
  async kill(name: string): Promise<void> {
    this.#inSwitch("ip", "link", "set", `to-${name}`, "down");
    await this.getHost(name).kill();
  }

  async close(): Promise<void> {
    await Promise.all([...this.#hosts.values()].map((host) => host.kill()));
    if (this.#switch.exitCode === null && this.#switch.signalCode === null) {
      this.#switch.kill("SIGKILL");
      await once(this.#switch, "exit");
    }
    rmSync(this.#scratch, { recursive: true, force: true });
  }

  async #start(suite: string, names: readonly string[]): Promise<void> {
    let text = "";
    this.#switch.stdout?.on("data", (chunk: Buffer) => {
      text += chunk;
    });
    const addresses = new Map(names.map((name, index) => [name, `10.77.0.${index + 1}`]));
    const image = join(this.#scratch, "image");
    installDebian(suite, image, addresses);
    await waitUntil("the switch", () => text.includes("ready"));
    for (const [name, address] of addresses) {
      const folder = join(this.#scratch, name);
      copyDebian(image, folder, name);
      const host = await NetworkHost.boot(name, folder);
      this.#hosts.set(name, host);
      this.#connect(host, address);
      host.require("/usr/sbin/sshd");
    }
  }

  #connect({ name, pid }: NetworkHost, address: string): void {
    const port = `to-${name}`;
    this.#inSwitch(
      ..."ip link add".split(" "),
      port,
      "type",
      "veth",
      "peer",
      "name",
      "eth0",
      "netns",
      String(pid),
    );
    this.#inSwitch("ip", "link", "set", port, "master", "switch", "up");
    const inHost = (...words: string[]) => execFileSync("nsenter", [`--target=${pid}`, "--net", ...words]);
    inHost("ip", "address", "add", `${address}/24`, "dev", "eth0");
    inHost("ip", "link", "set", "eth0", "up");
  }

  #inSwitch(...words: string[]): void {
    execFileSync("nsenter", [`--target=${this.#switch.pid}`, "--net", ...words]);
  }
}
