import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createFolder } from "../../../../fixtures/process/agent-socket.ts";
import { ConfigError } from "../../../../src/core/base/errors.ts";
import { loadPeerAddon } from "../../../../src/core/process/agent-socket/peer.ts";
import { locateNative } from "../../../../src/core/process/native/locate.ts";

test("an addon that is missing or cannot be loaded is an error of the installation", () => {
  const folder = createFolder();
  expect(() => locateNative("peer.node", folder)).toThrow(ConfigError);
  expect(() => locateNative("peer.node", folder)).toThrow(
    /who connects to the agent.* is missing.*npm run build/,
  );
  const path = join(folder, "peer.node");
  writeFileSync(path, "not an addon", { mode: 0o755 });
  expect(() => loadPeerAddon(path)).toThrow(ConfigError);
  expect(() => loadPeerAddon(path)).toThrow(/cannot load .*peer\.node, which reads who connects/);
});
