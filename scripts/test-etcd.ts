/**
 * Runs the tests with another version of etcd: `npm run test:etcd -- VERSION [vitest's filters and options]`.
 * Debian has 3.4.23 (bookworm), 3.5.16 (trixie) and 3.5.30 (sid). `3.5` selects the newest 3.5 release.
 */
import { $ } from "zx";
import { findEtcd } from "../fixtures/etcd/index.ts";

const [version, ...filters] = process.argv.slice(2);
if (!version || version.startsWith("-")) {
  console.error(
    "usage: npm run test:etcd -- VERSION [vitest's filters and options], e.g. 3.5.30 test/core/etcd",
  );
  process.exit(64);
}
try {
  const { etcd } = await findEtcd(version);
  console.error(`etcd ${version}: ${etcd}`);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(69);
}
const env = { ...process.env, ETCD_VERSION: version };
process.exitCode =
  (await $({ env, stdio: "inherit", nothrow: true })`exec vitest run ${filters}`).exitCode ?? 1;
