/** Variables of cronlock for what `signalbox run` has besides. */
import { expect } from "vitest";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { startWebServer } from "../../../fixtures/worker/http-fixture.ts";

const cluster = TestCluster.startForFile();
const { test } = cluster;

test("retries, quiet successes and pings", async ({ namespace }) => {
  const { url, requests } = await startWebServer();
  const env = {
    CRONLOCK_KEY: "job",
    CRONLOCK_GRACE: "0",
    CRONLOCK_RETRIES: "2",
    CRONLOCK_RETRY_WAIT: "0",
    CRONLOCK_QUIET_SUCCESS: "yes",
    CRONLOCK_PING: url,
  };
  const run = (last: number) =>
    namespace.execute(
      ["cronlock", "sh", "-c", `echo "$SIGNALBOX_ATTEMPT"; test "$SIGNALBOX_ATTEMPT" = ${last}`],
      {
        env,
      },
    );
  expect(await run(2)).toExitSilently(0);
  expect(await run(9)).toExit(1, { stdout: "1\n2\n3\n" });
  expect(requests.map(({ path }) => path)).toEqual(["/start", "/", "/start", "/1"]);
});
