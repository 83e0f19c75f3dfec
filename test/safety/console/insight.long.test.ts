/** What has changed since the last look. */

import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { openConsole } from "../../../fixtures/cluster/open-console.ts";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import type { Terminal } from "../../../fixtures/console.ts";

const cluster = TestCluster.startForFile();

const getText = (console: Terminal) => console.getScreen().join("\n");

/** A folder for the state of consoles, and the preferences in it. */
class StateFolder {
  readonly path = mkdtempSync(join(tmpdir(), "signalbox-state-"));

  constructor() {
    onTestFinished(() => rmSync(this.path, { recursive: true, force: true }));
  }

  get env(): Record<string, string> {
    return { XDG_STATE_HOME: this.path };
  }

  get #preferences(): string {
    const folder = join(this.path, "signalbox");
    const name = readdirSync(folder).find((one) => /^console-.*\.json$/.test(one)) ?? "";
    return join(folder, name);
  }

  /** Makes the last look so much earlier, ms. */
  moveLastLook(by: number): void {
    const kept = JSON.parse(readFileSync(this.#preferences, "utf8"));
    writeFileSync(this.#preferences, JSON.stringify({ ...kept, lookedAt: kept.lookedAt - by }));
  }
}

it("after some time away the changes are listed, and lead to their rows; without changes one line says so", async () => {
  const namespace = await cluster.createTestNamespace("http");
  const folder = new StateFolder();
  const open = async () => await openConsole(namespace, { env: folder.env });
  const first = await open();
  first.press("q");
  await first.ended;
  folder.moveLastLook(7_200_000);
  const second = await open();
  await second.waitFor(/nothing has changed since you last looked, 2h/);
  second.press("q");
  await second.ended;
  await namespace.start(["run", "--lock", "backup", "--", "sh", "-c", "exit 3"]).ended;
  folder.moveLastLook(7_200_000);
  const third = await open();
  await third.waitFor("since you last looked, 2h");
  await third.waitFor(/failed +lock backup +1x/);
  third.press("enter");
  await third.waitFor((it) => !getText(it).includes("since you last looked"));
  await third.waitFor(/backup .*exit 3/);
  third.press(":");
  third.type("what changed");
  await third.waitFor("since");
  third.press("enter");
  await third.waitFor(/failed +lock backup +1x/);
  third.press("escape");
  third.press("q");
  await third.ended;
  const fourth = await open(); // at once: nothing is said
  await fourth.waitFor(/backup .*exit 3/);
  expect(getText(fourth)).not.toContain("since you last looked");
});
