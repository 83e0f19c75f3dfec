/** users.sh of `signalbox setup etcd`, killed after each change. */
import { expect, test } from "vitest";
import { buildDeafEtcdctl, createUsersScript } from "../../../fixtures/etcd/users-script.ts";

test("that is killed at each change ends with authentication on", async () => {
  const run = await createUsersScript();
  let kills = 0;
  let ended = run((real) => buildDeafEtcdctl(real, "kill -9 $SCRIPT"));
  while (ended.signal === "SIGKILL") {
    kills += 1;
    ended = run((real) => buildDeafEtcdctl(real, "kill -9 $SCRIPT"));
  }
  expect(ended.stdout).toMatch(/^ok +authentication: etcd requires/m);
  expect(ended.status).toBe(0);
  expect(kills).toBe(13); // four roles, four users and their roles, authentication
});
